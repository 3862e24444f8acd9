/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_CODE_MAP_H
#define RECORD_SYMBOLS_CODE_MAP_H

/*
 * The names of the code that one process made for itself, by address. Newer code takes the
 * place of older code that it overlaps: the older one is gone, also the rest of it. What
 * comes in are files written by the process, so memory is limited, and adding n symbols
 * costs O(n log n) however they overlap.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_MAP_MAX_SYMBOLS (1 << 20)
#define CODE_MAP_MAX_NAMES (64 << 20) /* bytes */
#define CODE_MAP_MAX_NAME 1023

struct code_symbol {
	uint64_t start, size;
	uint32_t name;	/* see code_map_name() */
	uint32_t order; /* a higher one came later */
};

struct code_map {
	struct code_symbol *symbols; /* sorted, without overlap */
	size_t n;
	struct code_symbol *added; /* since the last code_map_settle() */
	size_t n_added, added_capacity;
	char *names; /* NUL-terminated, one after the other */
	size_t names_size, names_capacity;
	uint32_t order, settled; /* of the next symbol, and of the first unsettled one */
	uint64_t refused;	 /* symbols beyond the limits, or impossible ones */
};

void code_map_release(struct code_map *map);

/* Adds code [start, start + size). False when it cannot be kept; then `refused` counts it. */
bool code_map_add(struct code_map *map, uint64_t start, uint64_t size, const char *name,
		  size_t name_size);

/* The same with a name that is there already: the `name` of a symbol that was added before. */
bool code_map_add_again(struct code_map *map, uint64_t start, uint64_t size, uint32_t name);

/*
 * Takes in what was added. `replaced` is called for every older symbol whose place was
 * taken by code of another name or extent, before the new ones can be found. Returns 0 or -ENOMEM.
 */
int code_map_settle(struct code_map *map,
		    void (*replaced)(const struct code_symbol *old, void *context), void *context);

/* The settled symbol at an address, or NULL; valid until the next code_map_settle(). */
const struct code_symbol *code_map_find(const struct code_map *map, uint64_t address);

/* Valid until the next code_map_add(). */
const char *code_map_name(const struct code_map *map, const struct code_symbol *symbol);

#endif
