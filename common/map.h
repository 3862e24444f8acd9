/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_MAP_H
#define COMMON_MAP_H

/*
 * A hash table from byte strings to 64-bit values, open addressing, xxh3. Starts as { 0 }.
 * Keys are copied. Attackers may choose the keys: the hash is seeded once per process.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry;

struct map {
	struct map_entry *entries;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
};

void map_release(struct map *m);

/* Where the values are pointers: `release` gets each one that is not NULL, then the map goes. */
void map_release_values(struct map *m, void (*release)(void *value));

/* The value of a key, or NULL; it stays there until the next map_put() or map_remove(). */
uint64_t *map_get(const struct map *m, const void *key, size_t size);

/*
 * The value of a key, added as 0 when it was not there (`added` may be NULL). NULL only
 * without memory. Stays there until the next map_put() or map_remove().
 */
uint64_t *map_put(struct map *m, const void *key, size_t size, bool *added);

/*
 * Numbers keys: that of this one, which is `next` where it was not there (`added` says so).
 * UINT32_MAX without memory.
 */
uint32_t map_number(struct map *m, const void *key, size_t size, uint32_t next, bool *added);

/* True when the key was there. */
bool map_remove(struct map *m, const void *key, size_t size);

/* The same where the values are pointers: `release` gets it, unless it is NULL. */
bool map_remove_value(struct map *m, const void *key, size_t size, void (*release)(void *value));

/* Calls `visit` once for each entry, in no order. The map must not change meanwhile. */
void map_each(const struct map *m,
	      void (*visit)(const void *key, size_t size, uint64_t value, void *context),
	      void *context);

#endif
