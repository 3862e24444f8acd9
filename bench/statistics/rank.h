/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_STATISTICS_RANK_H
#define BENCH_STATISTICS_RANK_H

/*
 * Tests that use only the order of numbers, so that an outlier counts no more than any other value.
 */

#include "bench/statistics/statistics.h"

/*
 * The median with the confidence interval of the sign test: two of the numbers themselves, whose
 * coverage is at least `confidence`. With too few numbers for the confidence (below six for 95 %)
 * returns -1.
 */
struct rank_median {
	struct estimate median;
	double coverage; /* the actual one */
};
int rank_median(const double *x, size_t n, double confidence, struct rank_median *result);

/*
 * Wilcoxon's signed-rank test of "symmetric around 0", two-sided; zeros are left out.
 * Exact up to 50 without ties, else normal. NaN without any number but zeros.
 */
double signed_rank_p(const double *x, size_t n);

#endif
