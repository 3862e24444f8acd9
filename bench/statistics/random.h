/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_STATISTICS_RANDOM_H
#define BENCH_STATISTICS_RANDOM_H

/*
 * Seeded random numbers (xoshiro256**), so that every resampling, corpus and mock can be
 * repeated: the same seed gives the same numbers on every machine.
 */

#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state[4];
};

void random_seed(struct random *r, uint64_t seed);
uint64_t random_next(struct random *r);

/* Uniform below `bound` (> 0). */
static inline uint64_t random_below(struct random *r, uint64_t bound)
{
	return (uint64_t)(((unsigned __int128)random_next(r) * bound) >> 64);
}

/* Uniform in [0, 1). */
static inline double random_unit(struct random *r)
{
	return (double)(random_next(r) >> 11) * 0x1p-53;
}

/* Normally distributed with mean 0 and standard deviation 1. */
double random_normal(struct random *r);

#endif
