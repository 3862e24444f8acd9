/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/recent.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/pair_hash.h"

#define FIRST_CAPACITY 1024

void recent_init(struct recent *r, size_t max)
{
	*r = (struct recent){ .max = max ? max : 1 };
	pair_hash_make_seed(&r->seed);
}

void recent_release(struct recent *r)
{
	free(r->young.entries);
	free(r->old.entries);
	recent_init(r, r->max);
}

/* The entry of the pair, or the empty one where it belongs: at most half of them are in use. */
static struct recent_entry *find(const struct recent_generation *g, uint64_t hash, uint64_t a,
				 uint32_t b)
{
	size_t mask = g->capacity - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct recent_entry *e = &g->entries[i];

		if (!e->number || (e->a == a && e->b == b))
			return e;
	}
}

static bool grow(struct recent *r)
{
	struct recent_generation *g = &r->young;
	struct recent_generation larger = {
		.count = g->count,
		.capacity = g->capacity ? g->capacity * 4 : FIRST_CAPACITY,
	};

	/* Half of it is enough for the `max`. */
	while (larger.capacity / 4 >= r->max)
		larger.capacity /= 2;
	larger.room = larger.capacity / 2 < r->max ? larger.capacity / 2 : r->max;
	larger.entries = calloc(larger.capacity, sizeof(*larger.entries));
	if (!larger.entries)
		return false;
	for (size_t i = 0; i < g->capacity; i++) {
		const struct recent_entry *e = &g->entries[i];

		if (e->number)
			*find(&larger, pair_hash(r->seed, e->a, e->b), e->a, e->b) = *e;
	}
	free(g->entries);
	*g = larger;
	return true;
}

/* The older generation is forgotten, and its memory serves the next one. */
static void rotate(struct recent *r)
{
	struct recent_generation next = r->old;

	r->old = r->young;
	if (next.count)
		memset(next.entries, 0, next.capacity * sizeof(*next.entries));
	next.count = 0;
	r->young = next;
	r->rotations++;
}

static bool make_room(struct recent *r)
{
	if (r->young.count >= r->max)
		rotate(r);
	return r->young.count < r->young.room || grow(r);
}

uint32_t recent_put(struct recent *r, uint64_t a, uint32_t b, uint32_t next)
{
	uint64_t hash = pair_hash(r->seed, a, b);
	const struct recent_entry *known;
	struct recent_entry *e;

	if (r->young.count >= r->young.room && !make_room(r))
		return UINT32_MAX;
	e = find(&r->young, hash, a, b);
	if (e->number)
		return e->number - 1;
	known = r->old.count ? find(&r->old, hash, a, b) : e;
	if (known->number)
		next = known->number - 1;
	*e = (struct recent_entry){ a, b, next + 1 };
	r->young.count++;
	return next;
}
