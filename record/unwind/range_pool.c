/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/range_pool.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"

int range_pool_init(struct range_pool *p, uint32_t count)
{
	*p = (struct range_pool){ .taken = calloc(count, sizeof(*p->taken)),
				  .count = count,
				  .shares.limit = count };
	return p->taken ? 0 : -1;
}

void range_pool_release(struct range_pool *p)
{
	free(p->taken);
	free(p->resting);
	shares_release(&p->shares);
	*p = (struct range_pool){ 0 };
}

void range_pool_cancel(struct range_pool *p, const struct pool_range *range)
{
	memset(p->taken + range->first, 0, range->count * sizeof(*p->taken));
	shares_give(&p->shares, range->user, range->count);
}

void range_pool_expire(struct range_pool *p, uint64_t now_ns)
{
	for (; p->resting_from < p->resting_to; p->resting_from++) {
		const struct resting_range *r = &p->resting[p->resting_from];

		if (now_ns < r->since_ns + RANGE_POOL_REST_NS)
			return;
		range_pool_cancel(p, &r->range);
	}
}

uint64_t range_pool_resting(const struct range_pool *p, uint32_t user)
{
	uint64_t n = 0;

	for (size_t i = p->resting_from; i < p->resting_to; i++)
		if (!user || p->resting[i].range.user == user)
			n += p->resting[i].range.count;
	return n;
}

static uint32_t find(const struct range_pool *p, uint32_t from, uint32_t n)
{
	uint32_t length = 0;

	for (uint32_t i = from; i < p->count; i++) {
		length = p->taken[i] ? 0 : length + 1;
		if (length == n)
			return i + 1 - n;
	}
	return RANGE_POOL_NONE;
}

uint32_t range_pool_take(struct range_pool *p, uint32_t n, uint32_t user, uint64_t now_ns)
{
	uint32_t first;

	if (n == 0 || n > p->count)
		return RANGE_POOL_NONE;
	range_pool_expire(p, now_ns);
	first = find(p, p->hint, n);
	if (first == RANGE_POOL_NONE)
		first = find(p, 0, n);
	if (first == RANGE_POOL_NONE)
		return first;
	memset(p->taken + first, true, n * sizeof(*p->taken));
	p->hint = first + n;
	shares_take(&p->shares, user, n);
	return first;
}

/* The place behind those that rest. */
static struct resting_range *append(struct range_pool *p)
{
	size_t n = p->resting_to - p->resting_from;

	/* No more is moved than has gone from the front since it was moved last. */
	if (p->resting_from >= n) {
		if (n)
			memmove(p->resting, p->resting + p->resting_from, n * sizeof(*p->resting));
		p->resting_from = 0;
		p->resting_to = n;
	}
	if (!array_reserve(&p->resting, &p->resting_capacity, p->resting_to + 1))
		return NULL;
	return &p->resting[p->resting_to++];
}

void range_pool_give(struct range_pool *p, const struct pool_range *range, uint64_t now_ns)
{
	struct resting_range *resting = append(p);

	if (resting)
		*resting = (struct resting_range){ *range, now_ns };
}
