/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_RANGE_MAP_H
#define RECORD_SYMBOLS_RANGE_MAP_H

/*
 * Disjoint ranges of addresses, each with a value. A new range takes the place of what it
 * overlaps; what sticks out of it keeps its value. The ranges come from files that a target
 * writes, so every operation costs O(log n) whatever their order (a treap), and a replaced range
 * is visited once.
 *
 * Starts as { 0 }.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start, end; /* [start, end) */
	uint32_t value;
};

struct range_node;

struct range_map {
	struct range_node *nodes;
	size_t n, capacity;
	uint32_t root, unused; /* numbers of nodes; 0: none */
	uint32_t random;
};

void range_map_release(struct range_map *map);

/* How much memory the ranges take. */
size_t range_map_bytes(const struct range_map *map);

/* The range that holds the address, or NULL; valid until the next range_map_put(). */
const struct range *range_map_find(const struct range_map *map, uint64_t address);

/*
 * Puts a range in. `removed` is called for each part of an older range in its place, in no order,
 * and may not use the map. False without memory; then nothing was changed.
 */
bool range_map_put(struct range_map *map, struct range range,
		   void (*removed)(const struct range *part, void *context), void *context);

#endif
