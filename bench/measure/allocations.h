/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_ALLOCATIONS_H
#define BENCH_MEASURE_ALLOCATIONS_H

/*
 * Counts what malloc() and its like hand out, of all threads and libraries: interpose.c
 * stands in front of the C library's. Not under a sanitizer, which stands there itself.
 */

#include <stdbool.h>
#include <stdint.h>

struct allocations {
	uint64_t blocks, bytes;
};

bool allocations_available(void);

/* What happens between these two counts; not nested. */
void allocations_begin(void);
struct allocations allocations_end(void);

/* -------- for interpose.c -------- */

extern bool allocations_counted; /* interpose.c is there */
extern bool allocations_counting;
extern uint64_t allocations_blocks, allocations_bytes;

static inline void allocations_count(uint64_t size)
{
	if (__builtin_expect(__atomic_load_n(&allocations_counting, __ATOMIC_RELAXED), 0)) {
		__atomic_fetch_add(&allocations_blocks, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&allocations_bytes, size, __ATOMIC_RELAXED);
	}
}

#endif
