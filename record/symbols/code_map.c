/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/code_map.h"

#include "common/array.h"
#include "common/limits.h"

#include <stdlib.h>
#include <string.h>

/* User addresses end below this on every machine we know (57 bits of virtual address). */
#define ADDRESS_LIMIT (UINT64_C(1) << 56)
/* Of a symbol, with what jit_names.c keeps of it. */
#define SYMBOL_BYTES (sizeof(struct code_symbol) + 24)
/*
 * A symbol remembers at most so many of the places that it replaced. What was at the places of one
 * that replaced more is not looked up.
 */
#define VICTIMS_LOOKED_AT 256
#define PAST_LOOKED_AT 4096

/* A part of an older symbol's place, in the list of the symbol that took it. */
struct code_victim {
	uint64_t start, end;
	uint32_t symbol;
	uint32_t next;
};

static void count_bytes(struct code_map *map)
{
	uint64_t bytes = map->n * SYMBOL_BYTES + map->n_victims * sizeof(*map->victims) +
			 range_map_bytes(&map->places) + map->names_size + map->others;

	if (map->shares && bytes >= map->bytes)
		shares_take(map->shares, map->user, bytes - map->bytes);
	else if (map->shares)
		shares_give(map->shares, map->user, map->bytes - bytes);
	map->bytes = bytes;
}

/* Whether it may grow: no process has more than it leaves for others, either. */
static bool has_room(struct code_map *map)
{
	const struct shares *s = map->shares;

	if (!s || (shares_may_take(s, map->user, 1) && map->bytes < s->limit - s->taken))
		return true;
	map->crowded = true;
	return false;
}

bool code_map_take(struct code_map *map, size_t bytes)
{
	if (!has_room(map))
		return false;
	map->others += bytes;
	count_bytes(map);
	return true;
}

void code_map_release(struct code_map *map)
{
	struct shares *shares = map->shares;

	if (shares)
		shares_give(shares, map->user, map->bytes);
	free(map->symbols);
	range_map_release(&map->places);
	free(map->victims);
	free(map->names);
	*map = (struct code_map){ .shares = shares, .user = map->user };
}

static bool refuse(struct code_map *map)
{
	map->refused++;
	return false;
}

/* Refuses an addition for want of room. From then on no answer is certain. */
static bool refuse_full(struct code_map *map, uint64_t time_ns)
{
	if (!map->full_ns || time_ns < map->full_ns)
		map->full_ns = time_ns ? time_ns : 1;
	return refuse(map);
}

/* Whether the symbol there is this one, under the same name. */
static bool is_there(const struct code_map *map, const struct code_piece *piece, uint32_t name)
{
	const struct range *range = range_map_find(&map->places, piece->start);
	const struct code_symbol *s = range ? &map->symbols[range->value] : NULL;

	return s && s->replaced == CODE_NONE && s->piece.start == piece->start &&
	       s->piece.size == piece->size && !strcmp(map->names + s->name, map->names + name);
}

static void note_victim(const struct range *part, void *context)
{
	struct code_map *map = context;
	uint32_t newest = (uint32_t)map->n;
	struct code_symbol *symbol = &map->symbols[newest], *old = &map->symbols[part->value];

	if (old->replaced == CODE_NONE)
		old->replaced = newest;
	if (!array_reserve(&map->victims, &map->victims_capacity, map->n_victims + 1)) {
		map->full_ns = 1;
		return;
	}
	map->victims[map->n_victims] = (struct code_victim){ part->start, part->end, part->value,
							     symbol->victims };
	symbol->victims = (uint32_t)map->n_victims++;
}

bool code_map_add_again(struct code_map *map, const struct code_piece *piece, uint32_t name)
{
	const struct range range = { piece->start, piece->start + piece->size, (uint32_t)map->n };

	if (!piece->start || !piece->size || piece->start >= ADDRESS_LIMIT ||
	    piece->size >= ADDRESS_LIMIT - piece->start)
		return refuse(map);
	if (is_there(map, piece, name))
		return true;
	if (map->n >= LIMIT_JIT_FUNCTIONS || !has_room(map) ||
	    !array_reserve(&map->symbols, &map->capacity, map->n + 1))
		return refuse_full(map, piece->after);
	map->symbols[map->n] = (struct code_symbol){
		.piece = *piece, .name = name, .replaced = CODE_NONE, .victims = CODE_NONE
	};
	if (!range_map_put(&map->places, range, note_victim, map))
		return refuse_full(map, piece->after);
	map->n++;
	count_bytes(map);
	return true;
}

bool code_map_add(struct code_map *map, const struct code_piece *piece, const char *name,
		  size_t name_size)
{
	uint32_t at = (uint32_t)map->names_size;

	if (name_size > CODE_MAP_MAX_NAME)
		name_size = CODE_MAP_MAX_NAME;
	if (at + name_size + 1 > LIMIT_JIT_NAME_BYTES ||
	    !array_reserve(&map->names, &map->names_capacity, at + name_size + 1))
		return refuse_full(map, piece->after);
	memcpy(map->names + at, name, name_size);
	map->names[at + name_size] = 0;
	if (!code_map_add_again(map, piece, at))
		return false;
	/* Adding a symbol that is there already must not keep its name twice. */
	if (map->n && map->symbols[map->n - 1].name == at) {
		map->names_size += name_size + 1;
		count_bytes(map);
	}
	return true;
}

/* The symbol that this one replaced at the address; CODE_NONE: none that is known. */
static uint32_t victim_at(const struct code_map *map, const struct code_symbol *s, uint64_t address)
{
	uint32_t at = s->victims;

	for (int i = 0; at != CODE_NONE && i < VICTIMS_LOOKED_AT; i++) {
		const struct code_victim *v = &map->victims[at];

		if (address >= v->start && address < v->end)
			return v->symbol;
		at = v->next;
	}
	return CODE_NONE;
}

enum code_answer code_map_find(const struct code_map *map, uint64_t address, uint64_t time_ns,
			       uint32_t *symbol)
{
	const struct range *range = range_map_find(&map->places, address);
	uint32_t at = range ? range->value : CODE_NONE;

	if (!range)
		return CODE_UNKNOWN;
	if (map->full_ns && time_ns >= map->full_ns)
		return CODE_AMBIGUOUS;
	for (int i = 0; at != CODE_NONE && i < PAST_LOOKED_AT; i++) {
		const struct code_symbol *s = &map->symbols[at];

		if (s->replaced != CODE_NONE && time_ns > map->symbols[s->replaced].piece.after)
			return CODE_AMBIGUOUS;
		/*
		 * The first code of a place replaced nothing, so a sample before its line was
		 * written may still be of it.
		 */
		if (time_ns >= s->piece.by || (s->victims == CODE_NONE && !s->piece.exact)) {
			*symbol = at;
			return *code_map_name(map, s) ? CODE_KNOWN : CODE_AMBIGUOUS;
		}
		if (time_ns > s->piece.after)
			return CODE_AMBIGUOUS;
		at = victim_at(map, s, address);
	}
	return CODE_AMBIGUOUS;
}

const char *code_map_name(const struct code_map *map, const struct code_symbol *symbol)
{
	return map->names + symbol->name;
}
