/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_PAIRS_PAIRED_RUNS_H
#define BENCH_PAIRS_PAIRED_RUNS_H

/*
 * Two programs, run in turns. Pairs come in blocks of two, old-new new-old or the other way
 * round at random (ABBA), so that drift of the machine cancels; what is looked at is the
 * ratio within a pair. The same is done with the old program against itself: what differs
 * there is the noise of this machine today. A change counts only if it is larger than that, and is
 * excluded only if the noise is smaller than the change that is to be found.
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

/* How pairs are taken. */
struct paired_runs_way {
	paired_runs_measure *measure;
	void *context;
	struct random *order; /* says which side of a block is first */
};

/* Measures `n` more pairs; with `same` both sides are the old program. -1: one failed. */
int paired_runs_take(struct paired_runs *p, size_t n, bool same, const struct paired_runs_way *way);

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
	PAIRED_RUNS_FINE,   /* no slowdown of the wanted size, nor noise that could hide one */
	PAIRED_RUNS_FASTER, /* the whole interval is below the noise */
	PAIRED_RUNS_SLOWER, /* the whole interval is above the noise */
	PAIRED_RUNS_INCONCLUSIVE,
};

/*
 * By pairs of old and new, and of the same. `wanted` is the slowdown that is to be found, as a
 * share: where it could be there, the verdict is never fine.
 */
enum paired_runs_verdict paired_runs_judge(const struct paired_runs_change *different,
					   const struct paired_runs_change *same, double wanted);

/*
 * About how many pairs it takes for a verdict, if `n` gave these intervals: their width falls
 * with the square root. 0: the change is so close to `wanted` that no number would do.
 */
size_t paired_runs_needed(const struct paired_runs_change *different,
			  const struct paired_runs_change *same, size_t n, double wanted);

/*
 * Intervals of a comparison, which looks at its pairs about three times: each time the truth may
 * be beyond either end with a probability of 0.5 %.
 */
#define PAIRED_RUNS_CONFIDENCE 0.99

struct paired_runs_options {
	size_t pairs, max_pairs; /* at first, and at most; fewer than 8 give no such interval */
	double wanted;
	uint64_t seed;
	size_t resamples;
};

/* Starts as { 0 }, and is released with what it holds. */
struct paired_runs_comparison {
	struct paired_runs same, different;
	struct paired_runs_change same_change, change;
	enum paired_runs_verdict verdict;
};

/* Measures pairs of both kinds, twice as many each time, until there is a verdict. */
int paired_runs_compare(struct paired_runs_comparison *c, const struct paired_runs_options *options,
			paired_runs_measure *measure, void *context);
void paired_runs_comparison_release(struct paired_runs_comparison *c);

#endif
