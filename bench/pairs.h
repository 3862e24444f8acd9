/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

/*
 * Two programs, run in turns. Pairs come in blocks of two, old-new new-old or the other way
 * round at random (ABBA), so that drift of the machine cancels; what is looked at is the
 * ratio within a pair. The same is done with the old program against itself: what differs
 * there is the noise of this machine today, and a change that is not larger is none.
 */

#include <stdint.h>

#include "bench/bootstrap.h"
#include "bench/random.h"

/*
 * Runs one side once: 0, and the nanoseconds it took; -1 when it failed. `side`: 0 old, 1 new.
 */
typedef int pairs_measure(void *context, int side, double *ns);

struct pairs {
	double *log_ratios; /* log(new / old) */
	size_t n, capacity;
};

void pairs_release(struct pairs *p);

/* Measures `n` more pairs; with `same` both sides are the old program. -1: one failed. */
int pairs_take(struct pairs *p, size_t n, bool same, struct random *r, pairs_measure *measure,
	       void *context);

/* new / old - 1: the median of the pairs' ratios, with the sign test's interval. */
struct pairs_change {
	struct estimate sign, bootstrap;
	double p; /* signed rank */
};
int pairs_change(const struct pairs *p, const struct bootstrap *b, struct pairs_change *change);

/*
 * The noise that pairs of the same program show: how far their interval reaches from 0 to
 * either side, and not less than `least`.
 */
double pairs_noise(const struct pairs_change *same, double least);

enum pairs_verdict {
	PAIRS_SAME,	    /* the whole interval lies within the noise */
	PAIRS_FASTER,	    /* all below it */
	PAIRS_SLOWER,	    /* all above it */
	PAIRS_INCONCLUSIVE, /* partly in, partly out: more pairs may tell */
};
enum pairs_verdict pairs_judge(const struct pairs_change *change, double noise);

#endif
