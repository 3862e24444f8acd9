/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DIFFERENCE_CHANGE_H
#define REPORT_DIFFERENCE_CHANGE_H

/*
 * What changed between the runs before and the runs now, and whether it is more than noise.
 *
 * A row (a function's own samples, say) has a count in each run; a run has an exposure, the
 * count that a value of 1 gives: with 999 samples per second of CPU time and values in seconds
 * it is 999. The value of a side is the sum of its counts divided by the sum of its exposures.
 *
 * Noise. One run on each side: counts are taken as Poisson distributed, which is the noise of
 * sampling alone; the test is exact (binomial, given the sum of both counts). With several runs
 * on a side the counts may vary more than that: by a part of the value that is estimated from
 * all rows, and by a factor that is estimated for each row and drawn towards what all rows have
 * in common as far as they do have it in common (the moderated t statistic; Smyth, 2004). The
 * variance is never taken for less than that of sampling. The p value is the larger one
 * of this and the exact test. Of runs by turns only what differs within the pairs of one before
 * and one now counts as noise, so that what both have in common (the machine was slower in that
 * minute) hides nothing. The less the rows of a run vary independently, the less do they say of
 * each other.
 *
 * Many rows. The p values are adjusted (Holm, and Tarone for rows with too few counts to ever
 * be sure), so that CHANGE_ALPHA is the chance that any row at all is called sure although
 * nothing has changed. That holds for noise that each row has for itself. What all rows of a run
 * have in common is known from no more than the runs: with 3 % of it and two or three runs on each
 * side the chance is up to 1 in 70.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define CHANGE_ALPHA 0.001

enum change_side { CHANGE_BEFORE, CHANGE_NOW };

struct change_runs {
	size_t runs[2];	  /* of each side, at least 1 */
	double *exposure; /* of each run, those before first */
	/* By turns, as many on each side: which run (of all) ran beside each of those before.
	 * NULL: not by turns. */
	const size_t *partner;
	/* Whether the counts are samples that fall independently. Otherwise nothing is known
	 * about their noise but from several runs. */
	bool poisson;
};

struct change {
	double before, now;
	double low, high; /* 95 % interval of now - before, for this row alone; NaN: not known */
	double p;	  /* adjusted; NaN: not known */
	bool sure;	  /* p < CHANGE_ALPHA */
};

/* Fills changes[0..n); row i has counts[i * all runs + run]. ERROR_MEMORY. */
struct error *changes_estimate(struct change *changes, size_t n, const uint64_t *counts,
			       const struct change_runs *runs) ERROR_CHECKED;

/* How large the change is at least, by its interval: 0 if it may be none. */
double change_at_least(const struct change *c);

#endif
