/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/code_map.h"

#include "common/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* User addresses end below this on every machine we know (57 bits of virtual address). */
#define ADDRESS_LIMIT (UINT64_C(1) << 56)

void code_map_release(struct code_map *map)
{
	free(map->symbols);
	free(map->added);
	free(map->names);
	*map = (struct code_map){ 0 };
}

bool code_map_add_again(struct code_map *map, uint64_t start, uint64_t size, uint32_t name)
{
	if (!start || !size || start >= ADDRESS_LIMIT || size >= ADDRESS_LIMIT - start ||
	    map->n + map->n_added >= CODE_MAP_MAX_SYMBOLS ||
	    !array_reserve(&map->added, &map->added_capacity, map->n_added + 1)) {
		map->refused++;
		return false;
	}
	map->added[map->n_added++] = (struct code_symbol){
		.start = start, .size = size, .name = name, .order = map->order++
	};
	return true;
}

bool code_map_add(struct code_map *map, uint64_t start, uint64_t size, const char *name,
		  size_t name_size)
{
	if (name_size > CODE_MAP_MAX_NAME)
		name_size = CODE_MAP_MAX_NAME;
	if (!name_size || map->names_size + name_size + 1 > CODE_MAP_MAX_NAMES ||
	    !array_reserve(&map->names, &map->names_capacity, map->names_size + name_size + 1)) {
		map->refused++;
		return false;
	}
	if (!code_map_add_again(map, start, size, (uint32_t)map->names_size))
		return false;
	memcpy(map->names + map->names_size, name, name_size);
	map->names[map->names_size + name_size] = 0;
	map->names_size += name_size + 1;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct code_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static bool is_same(const struct code_map *map, const struct code_symbol *a,
		    const struct code_symbol *b)
{
	return a->start == b->start && a->size == b->size &&
	       !strcmp(map->names + a->name, map->names + b->name);
}

/* Indices by a key, the lowest first. */
struct heap {
	struct heap_entry {
		uint32_t key, index;
	} * entries;
	size_t n;
};

static void heap_push(struct heap *h, uint32_t key, uint32_t index)
{
	size_t i = h->n++;

	for (; i && h->entries[(i - 1) / 2].key > key; i = (i - 1) / 2)
		h->entries[i] = h->entries[(i - 1) / 2];
	h->entries[i] = (struct heap_entry){ key, index };
}

static void heap_pop(struct heap *h)
{
	struct heap_entry last = h->entries[--h->n];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < h->n; i = child) {
		if (child + 1 < h->n && h->entries[child + 1].key < h->entries[child].key)
			child++;
		if (h->entries[child].key >= last.key)
			break;
		h->entries[i] = h->entries[child];
	}
	h->entries[i] = last;
}

/*
 * Marks in `gone` every one of `all`, sorted by start, that a newer one overlaps: also where
 * that newer one is gone itself. A sweep over the starts; of the open ones, those that are
 * older than the next end there, and the newest of them tells whether the next one is gone.
 */
static int find_replaced(const struct code_symbol *all, size_t n, bool *gone)
{
	struct heap oldest = { .entries = calloc(n, sizeof(*oldest.entries)) };
	struct heap newest = { .entries = calloc(n, sizeof(*newest.entries)) };
	int error = oldest.entries && newest.entries ? 0 : -ENOMEM;

	for (uint32_t i = 0; !error && i < n; i++) {
		uint64_t start = all[i].start;

		while (oldest.n && all[oldest.entries->index].order < all[i].order) {
			const struct code_symbol *open = &all[oldest.entries->index];

			if (open->start + open->size > start)
				gone[oldest.entries->index] = true;
			heap_pop(&oldest);
		}
		while (newest.n &&
		       all[newest.entries->index].start + all[newest.entries->index].size <= start)
			heap_pop(&newest);
		gone[i] = newest.n && all[newest.entries->index].order > all[i].order;
		heap_push(&oldest, all[i].order, i);
		heap_push(&newest, ~all[i].order, i);
	}
	free(oldest.entries);
	free(newest.entries);
	return error;
}

/* All symbols by start into `all`, the same one only once and as its newest; returns how many. */
static size_t merge(struct code_map *map, struct code_symbol *all)
{
	size_t i = 0, j = 0, n = 0;

	qsort(map->added, map->n_added, sizeof(*map->added), by_start);
	while (i < map->n || j < map->n_added) {
		bool old = j == map->n_added ||
			   (i < map->n && by_start(&map->symbols[i], &map->added[j]) < 0);
		struct code_symbol next = old ? map->symbols[i++] : map->added[j++];

		if (n && is_same(map, &all[n - 1], &next))
			n--;
		all[n++] = next;
	}
	return n;
}

int code_map_settle(struct code_map *map,
		    void (*replaced)(const struct code_symbol *old, void *context), void *context)
{
	size_t total = map->n + map->n_added, kept = 0;
	struct code_symbol *all;
	bool *gone;

	if (!map->n_added)
		return 0;
	all = malloc(total * sizeof(*all));
	gone = calloc(total, sizeof(*gone));
	if (!all || !gone)
		goto failed;
	total = merge(map, all);
	if (find_replaced(all, total, gone))
		goto failed;
	for (size_t i = 0; i < total; i++) {
		if (!gone[i])
			all[kept++] = all[i];
		else if (all[i].order < map->settled && replaced)
			replaced(&all[i], context);
	}
	free(gone);
	free(map->symbols);
	map->symbols = all;
	map->n = kept;
	map->n_added = 0;
	map->settled = map->order;
	return 0;
failed:
	free(all);
	free(gone);
	return -ENOMEM;
}

const struct code_symbol *code_map_find(const struct code_map *map, uint64_t address)
{
	size_t low = 0, high = map->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->symbols[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address - map->symbols[low - 1].start >= map->symbols[low - 1].size)
		return NULL;
	return &map->symbols[low - 1];
}

const char *code_map_name(const struct code_map *map, const struct code_symbol *symbol)
{
	return map->names + symbol->name;
}
