/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_STATISTICS_BOOTSTRAP_H
#define BENCH_STATISTICS_BOOTSTRAP_H

/*
 * Confidence intervals and tests by resampling: no assumption on how times are distributed.
 * Everything is repeatable by its seed. Functions return 0 or -1 (no memory, or too few
 * numbers to say anything: fewer than two).
 */

#include "bench/statistics/statistics.h"

struct bootstrap {
	uint64_t seed;
	size_t resamples;  /* 100,000 is usual */
	double confidence; /* 0.95 */
};

/* Mean, median, standard deviation and MAD of `x`, with percentile intervals. */
struct bootstrap_estimates {
	struct estimate mean, median, deviation, mad;
};
int bootstrap_estimates(const struct bootstrap *b, const double *x, size_t n,
			struct bootstrap_estimates *result);

/* Of the median alone. */
int bootstrap_median(const struct bootstrap *b, const double *x, size_t n, struct estimate *result);

/* `n` pairs of numbers, which are drawn together. */
struct points {
	const double *x, *y;
	size_t n;
};

/* Of the slope of y = slope * x. */
int bootstrap_slope(const struct bootstrap *b, const struct points *points,
		    struct estimate *result);

/* Of the line y = a + b * x. Resamples in which all x are equal are drawn again. */
struct bootstrap_line {
	struct estimate a, b;
};
int bootstrap_line(const struct bootstrap *b, const struct points *points,
		   struct bootstrap_line *result);

/*
 * Two groups, `later` against `earlier`: relative change of mean and median (later / earlier
 * - 1), and the two-sided probability of a difference of means (Welch's t) at least this
 * large if both came from one distribution, for which both are drawn from the pool.
 */
struct bootstrap_group {
	const double *x;
	size_t n;
};
struct bootstrap_change {
	struct estimate mean, median;
	double t;
	double p;
};
int bootstrap_change(const struct bootstrap *b, const struct bootstrap_group *earlier,
		     const struct bootstrap_group *later, struct bootstrap_change *result);

#endif
