/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_RANK_H
#define BENCH_RANK_H

/*
 * Tests that look at the order of numbers only, so that one wild outlier counts as one.
 */

#include "bench/statistics.h"

/*
 * Mann-Whitney's U of `x` against `y` and its two-sided p. Exact by counting when there are
 * no ties and both groups have at most 50 numbers, else by the normal distribution with
 * correction for ties and continuity. Returns -1 for an empty group or without memory.
 */
struct mann_whitney {
	double u; /* pairs in which x is larger; a tie counts half */
	double p;
	bool exact;
};
int mann_whitney(const double *x, size_t n, const double *y, size_t m, struct mann_whitney *result);

/*
 * The median with the confidence interval of the sign test: two of the numbers themselves,
 * whose coverage is at least `confidence`. `coverage` gets what it really is. With too few
 * numbers for the confidence (below six for 95 %) returns -1.
 */
int rank_median(const double *x, size_t n, double confidence, struct estimate *median,
		double *coverage);

/*
 * Wilcoxon's signed-rank test of "symmetric around 0", two-sided; zeros are left out.
 * Exact up to 50 without ties, else normal. NaN when nothing is left.
 */
double signed_rank_p(const double *x, size_t n);

#endif
