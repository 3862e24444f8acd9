/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_CODE_MAP_H
#define RECORD_SYMBOLS_CODE_MAP_H

/*
 * Which generated code a process had at an address at a given time. New code replaces older code
 * that it overlaps, all of it, including the parts that do not overlap.
 *
 * When code came is often known only roughly, between two looks at a file. A sample in between may
 * have hit either code, so the answer is "ambiguous", not the likelier one.
 *
 * The input is files written by the process, so memory is limited, and an addition costs O(log n)
 * however pieces overlap.
 */

#include "record/symbols/range_map.h"
#include "record/system/shares.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_MAP_MAX_NAME 1023

/*
 * A piece of code [start, start + size) that came at some time after `after` and no later than
 * `by`, in ns.
 */
struct code_piece {
	uint64_t start, size;
	uint64_t after, by;
	/*
	 * True: the times are those of the code itself. False: those of its line in a file, which
	 * may be written late.
	 */
	bool exact;
};

struct code_symbol {
	struct code_piece piece;
	uint32_t name;	   /* see code_map_name() */
	uint32_t replaced; /* the symbol that replaced it; CODE_NONE: it is still there */
	uint32_t victims;  /* what it replaced: see code_map.c */
};

#define CODE_NONE UINT32_MAX

struct code_victim;

/* Starts as { 0 }. */
struct code_map {
	struct code_symbol *symbols; /* in the order they came */
	size_t n, capacity;
	struct range_map places; /* -> the newest symbol that covered a place */
	struct code_victim *victims;
	size_t n_victims, victims_capacity;
	char *names; /* NUL-terminated, one after the other */
	size_t names_size, names_capacity;
	uint64_t refused; /* symbols beyond the limits, or impossible ones */
	uint64_t full_ns; /* since this time symbols are missing for want of room; 0: none are */
	/*
	 * The bytes that all maps take together, and of whose process this one is; NULL: that is
	 * not counted. Of them, `bytes` are this map's, and `others` of what code_map_take() was
	 * called for.
	 */
	struct shares *shares;
	uint32_t user;
	uint64_t bytes, others;
	bool crowded; /* it or its user has its share */
};

/* Also counts as no bytes any more; `shares` and `user` stay. */
void code_map_release(struct code_map *map);

/*
 * Adds a piece of code. False when there is no room; then it is counted in `refused`. One without a
 * name replaces older code, too, and is ambiguous.
 */
bool code_map_add(struct code_map *map, const struct code_piece *piece, const char *name,
		  size_t name_size);

/* The same with a name that was stored before: the `name` of an earlier symbol. */
bool code_map_add_again(struct code_map *map, const struct code_piece *piece, uint32_t name);

/*
 * Counts memory of what belongs to the map and is released with it. False: there is no room for
 * that.
 */
bool code_map_take(struct code_map *map, size_t bytes);

enum code_answer {
	CODE_UNKNOWN,	/* no symbol ever covered the address */
	CODE_KNOWN,	/* it was certainly this symbol */
	CODE_AMBIGUOUS, /* it may have been the code before or after a change, or has no name */
};

/* Looks up whose code was at the address at that time. Sets `symbol` for CODE_KNOWN only. */
enum code_answer code_map_find(const struct code_map *map, uint64_t address, uint64_t time_ns,
			       uint32_t *symbol);

/* Valid until the next addition. */
const char *code_map_name(const struct code_map *map, const struct code_symbol *symbol);

#endif
