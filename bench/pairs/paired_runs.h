/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_PAIRS_PAIRED_RUNS_H
#define BENCH_PAIRS_PAIRED_RUNS_H

/*
 * Two programs, run in turns. Pairs come in blocks of two, old-new new-old or the other way
 * round at random (ABBA), so that drift of the machine cancels; what is looked at is the
 * ratio within a pair. The same is done with the old program against itself: what differs
 * there is the noise of this machine today, and a change that is not larger is none.
 */

#include <stdint.h>

#include "bench/statistics/bootstrap.h"
#include "bench/statistics/random.h"

/*
 * Runs one side once: 0, and the nanoseconds it took; -1 when it failed. `side`: 0 old, 1 new.
 */
typedef int paired_runs_measure(void *context, int side, double *ns);

struct paired_runs {
	double *log_ratios; /* log(new / old) */
	size_t n, capacity;
};

void paired_runs_release(struct paired_runs *p);

/* Measures `n` more pairs; with `same` both sides are the old program. -1: one failed. */
int paired_runs_take(struct paired_runs *p, size_t n, bool same, struct random *r,
		     paired_runs_measure *measure, void *context);

/* new / old - 1: the median of the pairs' ratios, with the sign test's interval. */
struct paired_runs_change {
	struct estimate sign, bootstrap;
	double p; /* signed rank */
};
int paired_runs_change(const struct paired_runs *p, const struct bootstrap *b,
		       struct paired_runs_change *change);

/*
 * The noise that pairs of the same program show: how far their interval reaches from 0 to
 * either side, and not less than `least`.
 */
double paired_runs_noise(const struct paired_runs_change *same, double least);

enum paired_runs_verdict {
	PAIRED_RUNS_SAME,	  /* the whole interval lies within the noise */
	PAIRED_RUNS_FASTER,	  /* all below it */
	PAIRED_RUNS_SLOWER,	  /* all above it */
	PAIRED_RUNS_INCONCLUSIVE, /* partly within, partly beyond: more pairs may decide */
};
enum paired_runs_verdict paired_runs_judge(const struct paired_runs_change *change, double noise);

#endif
