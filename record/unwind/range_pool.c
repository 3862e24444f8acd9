/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/range_pool.h"

#include <stdbool.h>
#include <stdlib.h>

/* An entry's state: IN_USE, or when it was given back, in ms (never 0 then). */
#define IN_USE UINT32_MAX
#define NS_PER_MS 1000000

/*
 * The count of ms wraps after 49 days. What seems to be given back within this time from now was a
 * moment ago, by a clock that was read later; what is older than 49 days less this is taken for
 * that.
 */
#define AHEAD_MS 3600000

static uint32_t stamp(uint64_t now_ns)
{
	uint32_t ms = (uint32_t)(now_ns / NS_PER_MS);

	return ms == 0 || ms == IN_USE ? 1 : ms;
}

int range_pool_init(struct range_pool *p, uint32_t count)
{
	*p = (struct range_pool){ .states = calloc(count, sizeof(*p->states)), .count = count };
	return p->states ? 0 : -1;
}

void range_pool_release(struct range_pool *p)
{
	free(p->states);
	*p = (struct range_pool){ 0 };
}

static bool is_free(uint32_t state, uint32_t now)
{
	return state == 0 || (state != IN_USE && now - state >= RANGE_POOL_REST_NS / NS_PER_MS &&
			      state - now >= AHEAD_MS);
}

static uint32_t find(const struct range_pool *p, uint32_t from, uint32_t n, uint32_t now)
{
	uint32_t length = 0;

	for (uint32_t i = from; i < p->count; i++) {
		length = is_free(p->states[i], now) ? length + 1 : 0;
		if (length == n)
			return i + 1 - n;
	}
	return RANGE_POOL_NONE;
}

uint32_t range_pool_take(struct range_pool *p, uint32_t n, uint64_t now_ns)
{
	uint32_t now = stamp(now_ns), first;

	if (n == 0 || n > p->count)
		return RANGE_POOL_NONE;
	first = find(p, p->hint, n, now);
	if (first == RANGE_POOL_NONE)
		first = find(p, 0, n, now);
	if (first == RANGE_POOL_NONE)
		return first;
	for (uint32_t i = 0; i < n; i++)
		p->states[first + i] = IN_USE;
	p->hint = first + n;
	p->used += n;
	return first;
}

void range_pool_give(struct range_pool *p, uint32_t first, uint32_t n, uint64_t now_ns)
{
	for (uint32_t i = 0; i < n; i++)
		p->states[first + i] = stamp(now_ns);
	p->used -= n;
}
