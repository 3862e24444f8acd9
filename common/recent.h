/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_RECENT_H
#define COMMON_RECENT_H

/*
 * The numbers of the pairs of integers that were asked for last: the last `max` different ones are
 * known, and no more than twice as many take memory, for however long this goes on. There are two
 * generations. The younger one takes what is new, and what was found in the older one; when it is
 * full, the older one is forgotten and it becomes the older one. Seeded, for the integers may come
 * from elsewhere. Starts with recent_init().
 */

#include <stddef.h>
#include <stdint.h>

struct recent_entry {
	uint64_t a;
	uint32_t b;
	uint32_t number; /* + 1; 0: empty */
};

struct recent_generation {
	struct recent_entry *entries;
	size_t count, room;
	size_t capacity; /* of entries: a power of two, or 0 */
};

struct recent {
	size_t max;
	uint64_t seed;
	uint32_t rotations; /* how often the older ones were forgotten */
	struct recent_generation young, old;
};

void recent_init(struct recent *r, size_t max);
void recent_release(struct recent *r);

/* The number of (a, b), which is `next` if it is not known; UINT32_MAX without memory. */
uint32_t recent_put(struct recent *r, uint64_t a, uint32_t b, uint32_t next);

#endif
