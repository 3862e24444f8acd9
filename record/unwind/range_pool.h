/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_RANGE_POOL_H
#define RECORD_UNWIND_RANGE_POOL_H

/*
 * Allocates ranges of an array's entries that the kernel half reads without locks. Ranges that were
 * given back are not used again for RANGE_POOL_REST_NS, so that a program that is still reading
 * them has finished; until then they are of their user's share.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/system/shares.h"

#define RANGE_POOL_REST_NS UINT64_C(1000000000)
#define RANGE_POOL_NONE UINT32_MAX

struct pool_range {
	uint32_t first, count;
	uint32_t user; /* of whose share it is */
};

struct resting_range {
	struct pool_range range;
	uint64_t since_ns;
};

struct range_pool {
	bool *taken; /* per entry, and still while it rests */
	uint32_t count;
	uint32_t hint; /* where to look first */
	struct shares shares;
	struct resting_range *resting; /* from resting_from up to resting_to, the oldest first */
	size_t resting_from, resting_to, resting_capacity;
};

/* 0, or -1 without memory. */
int range_pool_init(struct range_pool *p, uint32_t count);
void range_pool_release(struct range_pool *p);

/* The user has what rested long enough no longer. To be called before his share is asked for. */
void range_pool_expire(struct range_pool *p, uint64_t now_ns);

/* What rests and was the user's; for root, whose else it was, too. */
uint64_t range_pool_resting(const struct range_pool *p, uint32_t user);

/*
 * Takes the first `n` (> 0) neighbouring free entries for a user, whether or not they are more than
 * his share. RANGE_POOL_NONE: there are none.
 */
uint32_t range_pool_take(struct range_pool *p, uint32_t n, uint32_t user, uint64_t now_ns);

/* Without memory they rest for ever. */
void range_pool_give(struct range_pool *p, const struct pool_range *range, uint64_t now_ns);

/* Gives back what no program can have read: it need not rest. */
void range_pool_cancel(struct range_pool *p, const struct pool_range *range);

#endif
