/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_PAIR_HASH_H
#define COMMON_PAIR_HASH_H

/* A seeded hash of two integers, for tables whose integers may come from elsewhere. */

#include <stdint.h>

static inline uint64_t pair_hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t pair_hash(uint64_t seed, uint64_t a, uint64_t b)
{
	uint64_t h = pair_hash_mix(a ^ seed, UINT64_C(0x9e3779b97f4a7c15));

	return pair_hash_mix(h ^ b, seed);
}

#endif
