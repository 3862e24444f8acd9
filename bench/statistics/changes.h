/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_STATISTICS_CHANGES_H
#define BENCH_STATISTICS_CHANGES_H

/*
 * Where a series of measured values changed for good: the values are divided in two where the
 * energy distance of the parts is largest, and each part again, as long as hardly any order of
 * the same values at random gives as large a distance. Nothing is assumed about how values are
 * distributed.
 */

#include <stddef.h>
#include <stdint.h>

struct change_options {
	uint64_t seed;
	size_t least;	     /* values in each part; at least 2 */
	size_t permutations; /* 199 is usual: a division is one at 1 of 200 or less */
	double smallest;     /* change of the medians, as a share, that counts */
};

#define CHANGES_VALUES_MOST 1000

/*
 * Puts the places where something new begins into `places`, in rising order, which has room for
 * `n` of them. Returns how many, or -1 without memory or above CHANGES_VALUES_MOST.
 */
int changes_find(const double *values, size_t n, const struct change_options *options,
		 size_t *places);

#endif
