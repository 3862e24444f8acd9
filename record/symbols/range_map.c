/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/range_map.h"

#include "common/array.h"
#include "common/clock.h"

#include <stdlib.h>

struct range_node {
	struct range range;
	uint32_t left, right;
	uint32_t priority; /* at least as high as that of both children */
};

void range_map_release(struct range_map *map)
{
	free(map->nodes);
	*map = (struct range_map){ 0 };
}

size_t range_map_bytes(const struct range_map *map)
{
	return map->n * sizeof(*map->nodes);
}

/*
 * xorshift32, seeded by the clock: a process that chooses the ranges must not be able to predict
 * the tree's shape.
 */
static uint32_t next_random(struct range_map *map)
{
	uint32_t x = map->random ? map->random : ((uint32_t)clock_now() | 1);

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return map->random = x;
}

/* Room for `wanted` more nodes; number 0 stays free. */
static bool reserve(struct range_map *map, size_t wanted)
{
	if (!array_reserve(&map->nodes, &map->capacity, map->n + wanted + 1))
		return false;
	if (!map->n)
		map->n = 1;
	return true;
}

static uint32_t node_new(struct range_map *map, struct range range)
{
	uint32_t number = map->unused;

	if (number)
		map->unused = map->nodes[number].left;
	else
		number = (uint32_t)map->n++;
	map->nodes[number] = (struct range_node){ .range = range, .priority = next_random(map) };
	return number;
}

static void node_free(struct range_map *map, uint32_t number)
{
	map->nodes[number].left = map->unused;
	map->unused = number;
}

/* Into the ranges that start before the address, and the others. */
static void split(struct range_map *map, uint32_t root, uint64_t start, uint32_t *low,
		  uint32_t *high)
{
	struct range_node *node = &map->nodes[root];

	if (!root) {
		*low = *high = 0;
	} else if (node->range.start < start) {
		split(map, node->right, start, &node->right, high);
		*low = root;
	} else {
		split(map, node->left, start, low, &node->left);
		*high = root;
	}
}

/* All of `low` starts before all of `high`. */
static uint32_t merge(struct range_map *map, uint32_t low, uint32_t high)
{
	struct range_node *nodes = map->nodes;

	if (!low || !high)
		return low ? low : high;
	if (nodes[low].priority >= nodes[high].priority) {
		nodes[low].right = merge(map, nodes[low].right, high);
		return low;
	}
	nodes[high].left = merge(map, low, nodes[high].left);
	return high;
}

static uint32_t last(const struct range_map *map, uint32_t root)
{
	while (root && map->nodes[root].right)
		root = map->nodes[root].right;
	return root;
}

/* Cuts the range that spans the address, if there is one, in two. */
static void cut(struct range_map *map, uint64_t address)
{
	uint32_t low, high, node;
	struct range rest;

	split(map, map->root, address, &low, &high);
	node = last(map, low);
	if (node && map->nodes[node].range.end > address) {
		rest = map->nodes[node].range;
		rest.start = address;
		map->nodes[node].range.end = address;
		high = merge(map, node_new(map, rest), high);
	}
	map->root = merge(map, low, high);
}

static void remove_all(struct range_map *map, uint32_t root,
		       void (*removed)(const struct range *part, void *context), void *context)
{
	if (!root)
		return;
	remove_all(map, map->nodes[root].left, removed, context);
	remove_all(map, map->nodes[root].right, removed, context);
	if (removed)
		removed(&map->nodes[root].range, context);
	node_free(map, root);
}

bool range_map_put(struct range_map *map, struct range range,
		   void (*removed)(const struct range *part, void *context), void *context)
{
	uint32_t low, middle, high;

	if (!reserve(map, 3))
		return false;
	cut(map, range.start);
	cut(map, range.end);
	split(map, map->root, range.start, &low, &middle);
	split(map, middle, range.end, &middle, &high);
	remove_all(map, middle, removed, context);
	middle = node_new(map, range);
	map->root = merge(map, merge(map, low, middle), high);
	return true;
}

const struct range *range_map_find(const struct range_map *map, uint64_t address)
{
	uint32_t at = map->root;

	while (at) {
		const struct range *range = &map->nodes[at].range;

		if (address >= range->start && address < range->end)
			return range;
		at = address < range->start ? map->nodes[at].left : map->nodes[at].right;
	}
	return NULL;
}
