/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/javascript/v8_inlined.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/cursor.h"
#include "common/sorted.h"

#define PLACE_SIZE 16 /* a source position, the number of the function, 4 bytes of nothing */
#define PLACES_MAX (V8_PLACES_BYTES / PLACE_SIZE)
#define ENTRIES_MAX (V8_POSITIONS_BYTES / 2) /* each takes two bytes at least */

/* A source position: bit 0, 30 bits of a place in the text, then the number of a call + 1. */
#define CALL_SHIFT 31
#define CALL_MASK 0xffff

/* An inlined call; `parent`: the one that it is in, -1: none. */
struct call {
	int32_t parent;
	uint32_t function;
};

/* From an offset on, up to the next one's. */
struct entry {
	uint32_t offset;
	int32_t call; /* -1: none */
};

struct v8_inlined {
	uint32_t call_count, entry_count;
	uint32_t known; /* the table is complete up to this offset, at most the code's end */
	struct call calls[PLACES_MAX];
	struct entry entries[];
};

void v8_inlined_free(struct v8_inlined *inlined)
{
	free(inlined);
}

size_t v8_inlined_size(const struct v8_inlined *i)
{
	return sizeof(*i) + i->entry_count * sizeof(*i->entries);
}

static int32_t call_of(uint64_t position)
{
	return (int32_t)(position >> CALL_SHIFT & CALL_MASK) - 1;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Those that the record holds. Calls come after those that they are in. */
static bool read_calls(struct v8_inlined *to, const struct v8_compilation *from)
{
	struct cursor c = cursor_over(from->places, least(from->places_size, V8_PLACES_BYTES));

	while (cursor_left(&c) >= PLACE_SIZE) {
		struct call call = { .parent = call_of(cursor_u64(&c)),
				     .function = cursor_u32(&c) };

		cursor_skip(&c, 4);
		if (call.parent >= (int32_t)to->call_count)
			return false;
		to->calls[to->call_count++] = call;
	}
	return to->call_count != 0;
}

/* 7 bits in a byte, the lowest ones first; of the number, the lowest one is the sign. */
static int64_t next_number(struct cursor *c)
{
	uint64_t value = 0;
	uint8_t byte = 0x80;

	for (int shift = 0; shift < 63 && byte & 0x80; shift += 7) {
		byte = cursor_u8(c);
		value |= (uint64_t)(byte & 0x7f) << shift;
	}
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/*
 * Two differences for each entry: that of the offset, -n - 1 where no statement begins, and that of
 * the source position. Where the record ends too early, the last one is not complete.
 */
static void read_entries(struct v8_inlined *to, const struct v8_compilation *from)
{
	struct cursor c = cursor_over(from->positions,
				      least(from->positions_size, V8_POSITIONS_BYTES));
	uint64_t position = 0, offset = 0;

	while (cursor_left(&c)) {
		int64_t difference = next_number(&c), moved = next_number(&c);

		if (!cursor_ok(&c))
			return;
		offset += (uint64_t)(difference < 0 ? -(difference + 1) : difference);
		position += (uint64_t)moved;
		if (offset >> 31 || call_of(position) >= (int32_t)from->places_size / PLACE_SIZE)
			return;
		to->entries[to->entry_count++] = (struct entry){ (uint32_t)offset,
								 call_of(position) };
		to->known = (uint32_t)offset;
	}
	if (from->positions_size <= V8_POSITIONS_BYTES)
		to->known = from->size;
}

struct v8_inlined *v8_inlined_new(const struct v8_compilation *compilation)
{
	const size_t size = sizeof(struct v8_inlined);
	struct v8_inlined *all = calloc(1, size + ENTRIES_MAX * sizeof(struct entry)), *small;

	if (!all || !read_calls(all, compilation)) {
		free(all);
		return NULL;
	}
	read_entries(all, compilation);
	small = realloc(all, v8_inlined_size(all));
	return small ? small : all;
}

size_t v8_inlined_find(const struct v8_inlined *inlined, uint64_t offset,
		       uint32_t functions[V8_INLINED_DEPTH])
{
	size_t up_to = sorted_up_to(inlined->entries, inlined->entry_count,
				    SORTED_BY(struct entry, offset), offset);
	size_t n = 0;
	int32_t call;

	if (!up_to || offset >= inlined->known)
		return 0;
	for (call = inlined->entries[up_to - 1].call; call >= 0;
	     call = inlined->calls[call].parent) {
		if (n == V8_INLINED_DEPTH || call >= (int32_t)inlined->call_count)
			return 0;
		functions[n++] = inlined->calls[call].function;
	}
	return n;
}
