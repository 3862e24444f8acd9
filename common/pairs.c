/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/pairs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash_seed.h"
#include "common/pair_hash.h"

void pairs_release(struct pairs *p)
{
	free(p->pairs);
	free(p->slots);
	*p = (struct pairs){ 0 };
}

void pairs_clear(struct pairs *p)
{
	if (p->count)
		memset(p->slots, 0, p->capacity * sizeof(*p->slots));
	p->count = 0;
}

/*
 * By a factor of four: growing is most of the cost of new pairs, and a table that is less full has
 * fewer collisions.
 */
static bool grow(struct pairs *p)
{
	size_t capacity = p->capacity ? p->capacity * 4 : 64, mask = capacity - 1;
	size_t room = capacity / 4 * 3;
	struct pair *pairs;
	uint32_t *slots;

	/* Slots hold number + 1 in 32 bits, and UINT32_MAX stands for no memory. */
	if (room >= UINT32_MAX)
		return false;
	if (!p->seed)
		p->seed = hash_seed();
	slots = calloc(capacity, sizeof(*slots));
	if (!slots)
		return false;
	pairs = realloc(p->pairs, room * sizeof(*pairs));
	if (!pairs) {
		free(slots);
		return false;
	}
	for (size_t id = 0; id < p->count; id++) {
		size_t i = pair_hash(p->seed, pairs[id].a, pairs[id].b) & mask;

		while (slots[i])
			i = (i + 1) & mask;
		slots[i] = (uint32_t)id + 1;
	}
	free(p->slots);
	p->slots = slots;
	p->capacity = capacity;
	p->pairs = pairs;
	p->room = room;
	return true;
}

/* The slot of (a, b): its own, or the empty one where it would go. There are slots. */
static size_t slot_of(const struct pairs *p, uint64_t a, uint64_t b)
{
	size_t mask = p->capacity - 1, i;

	for (i = pair_hash(p->seed, a, b) & mask; p->slots[i]; i = (i + 1) & mask) {
		const struct pair *pair = &p->pairs[p->slots[i] - 1];

		if (pair->a == a && pair->b == b)
			break;
	}
	return i;
}

uint32_t pairs_find(const struct pairs *p, uint64_t a, uint64_t b)
{
	/* An empty slot's 0 becomes UINT32_MAX. */
	return p->capacity ? p->slots[slot_of(p, a, b)] - 1 : UINT32_MAX;
}

uint32_t pairs_put(struct pairs *p, uint64_t a, uint64_t b)
{
	size_t i;

	if (p->count >= p->room && !grow(p))
		return UINT32_MAX;
	i = slot_of(p, a, b);
	if (p->slots[i])
		return p->slots[i] - 1;
	p->pairs[p->count] = (struct pair){ a, b };
	p->slots[i] = (uint32_t)++p->count;
	return p->slots[i] - 1;
}
