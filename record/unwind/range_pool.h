/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_RANGE_POOL_H
#define RECORD_UNWIND_RANGE_POOL_H

/*
 * Allocates ranges of an array's entries that the kernel half reads without locks. Freed entries
 * are not used again for RANGE_POOL_REST_NS, so that a program that is still reading them has
 * finished.
 */

#include <stdint.h>

#define RANGE_POOL_REST_NS UINT64_C(1000000000)
#define RANGE_POOL_NONE UINT32_MAX

struct range_pool {
	uint32_t *states; /* per entry: 0 free, or see range_pool.c */
	uint32_t count;
	uint32_t hint; /* where to look first */
	uint32_t used;
};

/* 0, or -1 without memory. */
int range_pool_init(struct range_pool *p, uint32_t count);
void range_pool_release(struct range_pool *p);

/* The first of `n` (> 0) neighbouring free entries, or RANGE_POOL_NONE. */
uint32_t range_pool_take(struct range_pool *p, uint32_t n, uint64_t now_ns);
void range_pool_give(struct range_pool *p, uint32_t first, uint32_t n, uint64_t now_ns);

#endif
