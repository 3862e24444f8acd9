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

/* Allocations between these two calls are counted; calls do not nest. */
void allocations_begin(void);
struct allocations allocations_end(void);

/* -------- for interpose.c -------- */

/* interpose.c is linked in and counts. */
void allocations_announce(void);

/* One block of so many bytes was handed out. */
void allocations_count(uint64_t size);

#endif
