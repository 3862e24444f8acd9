/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/jitdump.h"

#include "common/cursor.h"
#include "common/limits.h"

#define MAGIC 0x4a695444 /* "JiTD", in the byte order of the machine */
#define HEADER_SIZE 40
#define RECORD_HEADER_SIZE 16
#define CODE_LOAD 0
#define CODE_MOVE 1
#define ARCH_TIMESTAMP 1		    /* in the header's flags */
#define LOAD_SIZE (RECORD_HEADER_SIZE + 40) /* up to the name */
#define NAME_BYTES 96			    /* an entry of `names`, with its key */
#define MOVE_SIZE (RECORD_HEADER_SIZE + 48)

static size_t parse_header(struct jitdump *d, const void *data, size_t size)
{
	struct cursor c = cursor_over(data, size);
	uint32_t magic = cursor_u32(&c), version = cursor_u32(&c), header_size = cursor_u32(&c);

	if (size < HEADER_SIZE)
		return 0;
	if (magic != MAGIC || version != 1 || header_size < HEADER_SIZE || header_size > 4096) {
		d->broken = true;
		return 0;
	}
	cursor_skip(&c, 4 + 4 + 4 + 8); /* machine, pad, pid, time */
	d->other_clock = cursor_u64(&c) & ARCH_TIMESTAMP;
	d->began = true;
	d->skip = header_size - HEADER_SIZE;
	return HEADER_SIZE;
}

/*
 * A record's own time is used, unless it is later than the record was seen in the file, which is
 * impossible.
 */
static void set_time(struct jitdump *d, struct code_piece *piece, uint64_t time_ns,
		     struct written written)
{
	piece->exact = time_ns && time_ns <= written.by && !d->other_clock;
	piece->after = piece->exact ? time_ns : written.after;
	piece->by = piece->exact ? time_ns : written.by;
	if (piece->exact && time_ns > d->time_ns)
		d->time_ns = time_ns;
}

/* The record after its header, without the code that follows the name. */
static void take_load(struct jitdump *d, struct code_map *map, struct cursor c,
		      struct code_piece piece)
{
	uint64_t index, *name_of;
	const char *name;

	cursor_skip(&c, 4 + 4 + 8); /* pid, tid, vma */
	piece.start = cursor_u64(&c);
	piece.size = cursor_u64(&c);
	index = cursor_u64(&c);
	name = cursor_string(&c);
	if (!cursor_ok(&c) || !code_map_add(map, &piece, name, strlen(name)))
		return;
	name_of = map_get(&d->names, &index, sizeof(index));
	/* Records that repeat one symbol under new numbers cost a writer nothing. */
	if (!name_of && d->names.count < LIMIT_JIT_FUNCTIONS && code_map_take(map, NAME_BYTES))
		name_of = map_put(&d->names, &index, sizeof(index), NULL);
	if (name_of)
		*name_of = map->symbols[range_map_find(&map->places, piece.start)->value].name;
}

static void take_move(struct jitdump *d, struct code_map *map, struct cursor c,
		      struct code_piece piece)
{
	uint64_t index, *name_of;

	cursor_skip(&c, 4 + 4 + 8 + 8); /* the last: where it was */
	piece.start = cursor_u64(&c);
	piece.size = cursor_u64(&c);
	index = cursor_u64(&c);
	if (!cursor_ok(&c))
		return;
	name_of = map_get(&d->names, &index, sizeof(index));
	if (name_of)
		code_map_add_again(map, &piece, (uint32_t)*name_of);
	else
		code_map_add(map, &piece, "", 0); /* what was there is gone */
}

/* How much of a record is needed; the rest is skipped without waiting for it. */
static uint32_t wanted_of(uint32_t kind, uint32_t total)
{
	uint32_t wanted = RECORD_HEADER_SIZE;

	if (kind == CODE_LOAD)
		wanted = LOAD_SIZE + CODE_MAP_MAX_NAME + 1;
	else if (kind == CODE_MOVE)
		wanted = MOVE_SIZE;
	return wanted < total ? wanted : total;
}

/* One record; returns how many bytes it took, 0 when it is not complete yet. */
static size_t parse_record(struct jitdump *d, struct code_map *map, const struct write_times *times,
			   struct cursor record)
{
	size_t size = cursor_left(&record);
	struct cursor c = record;
	uint32_t kind = cursor_u32(&c), total = cursor_u32(&c), wanted;
	uint64_t time_ns = cursor_u64(&c);
	struct code_piece piece = { 0 };

	if (!cursor_ok(&c))
		return 0;
	if (total < RECORD_HEADER_SIZE) {
		d->broken = true;
		return 0;
	}
	wanted = wanted_of(kind, total);
	if (size < wanted)
		return 0;
	c.end = record.at + wanted;
	set_time(d, &piece, time_ns, write_times_of(times, d->offset + wanted));
	if (kind == CODE_LOAD)
		take_load(d, map, c, piece);
	else if (kind == CODE_MOVE)
		take_move(d, map, c, piece);
	d->skip = total - wanted;
	return wanted;
}

size_t jitdump_parse(struct jitdump *d, struct code_map *map, const struct write_times *times,
		     const void *data, size_t size)
{
	const uint8_t *bytes = data;
	size_t done = 0, taken;

	do {
		taken = d->skip < size - done ? (size_t)d->skip : size - done;
		d->skip -= taken;
		d->offset += taken;
		done += taken;
		if (d->broken || d->skip)
			break;
		taken = d->began ? parse_record(d, map, times,
						cursor_over(bytes + done, size - done))
				 : parse_header(d, bytes + done, size - done);
		d->offset += taken;
		done += taken;
	} while (taken);
	/* After an error everything is consumed, so that nothing stays pending. */
	return d->broken ? size : done;
}

void jitdump_release(struct jitdump *d)
{
	map_release(&d->names);
	*d = (struct jitdump){ 0 };
}
