/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/perf_map.h"

#include "common/cursor.h"

#define LINE_MAX_BYTES (CODE_MAP_MAX_NAME + 2 * 20)

static int digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A number with its following blank; 0 (which is no valid start or size) when there is none. */
static uint64_t number(struct cursor *c)
{
	uint64_t value = 0;
	unsigned int digits = 0;
	int next;

	if (cursor_left(c) > 2 && c->at[0] == '0' && (c->at[1] | 0x20) == 'x')
		cursor_skip(c, 2);
	while (cursor_left(c) && (next = digit(*c->at)) >= 0) {
		if (value >> 60)
			return 0;
		value = value << 4 | (unsigned int)next;
		digits++;
		cursor_skip(c, 1);
	}
	return digits && cursor_u8(c) == ' ' && cursor_ok(c) ? value : 0;
}

static void parse_line(struct code_map *map, struct written written, const uint8_t *line,
		       size_t size)
{
	struct cursor c = cursor_over(line, size);
	struct code_piece piece = { .after = written.after, .by = written.by };

	piece.start = number(&c);
	piece.size = piece.start ? number(&c) : 0;

	while (cursor_left(&c) && (c.end[-1] == '\r' || c.end[-1] == ' '))
		c.end--;
	if (piece.size)
		code_map_add(map, &piece, (const char *)c.at, cursor_left(&c));
}

size_t perf_map_parse(struct code_map *map, const struct perf_map_source *source, const void *data,
		      size_t size)
{
	const uint8_t *start = data, *at = start, *end = start + size, *newline;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		parse_line(map,
			   write_times_of(source->times,
					  source->offset + (size_t)(newline + 1 - start)),
			   at, (size_t)(newline - at));
		at = newline + 1;
	}
	/*
	 * The rest of an overlong piece is parsed as a line of its own, and will hardly be a valid
	 * symbol.
	 */
	if ((size_t)(end - at) > 64 * LINE_MAX_BYTES)
		at = end;
	return (size_t)(at - start);
}
