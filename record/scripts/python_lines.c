/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/python_lines.h"

#include "common/cursor.h"

static uint32_t plausible(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* Pairs of bytes: how much further the address is, and then the line. */
static uint32_t by_lnotab(const struct python_lines *t, uint64_t address)
{
	struct cursor c = cursor_over(t->bytes, t->size);
	int64_t line = t->first;
	uint64_t at = 0;

	while (cursor_left(&c) >= 2) {
		at += cursor_u8(&c);
		if (at > address)
			break;
		line += (int8_t)cursor_u8(&c);
	}
	/* The last line goes on to the end of the code. */
	return plausible(line);
}

/* Pairs of bytes: how long the range is, and how much its line is after the one before; or -128. */
static uint32_t by_ranges(const struct python_lines *t, uint64_t address)
{
	struct cursor c = cursor_over(t->bytes, t->size);
	int64_t line = t->first;
	uint64_t end = 0;

	while (cursor_left(&c) >= 2) {
		int8_t delta;

		end += cursor_u8(&c);
		delta = (int8_t)cursor_u8(&c);
		if (delta != -128)
			line += delta;
		if (address < end)
			return delta == -128 ? 0 : plausible(line);
	}
	return 0;
}

/* Six bits a byte, the lowest first; 0x40: another byte follows. */
static uint32_t varint(struct cursor *c)
{
	uint32_t value = 0, byte;

	for (unsigned int shift = 0; shift < 32; shift += 6) {
		byte = cursor_u8(c);
		value |= (byte & 0x3f) << shift;
		if (!(byte & 0x40))
			return value;
	}
	cursor_fail(c);
	return 0;
}

static int64_t signed_varint(struct cursor *c)
{
	uint32_t value = varint(c);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

enum { SHORT_LAST = 9, ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG = 14, NONE = 15 };

/* Passes over an entry's bytes after the first; how much its line is after the one before. */
static int64_t line_delta(struct cursor *c, unsigned int code)
{
	int64_t delta = 0;

	if (code <= SHORT_LAST) {
		cursor_skip(c, 1);
	} else if (code <= ONE_LINE_2) {
		delta = code - ONE_LINE_0;
		cursor_skip(c, 2);
	} else if (code == NO_COLUMNS) {
		delta = signed_varint(c);
	} else if (code == LONG) {
		delta = signed_varint(c);
		varint(c); /* end line, column, end column */
		varint(c);
		varint(c);
	}
	return delta;
}

static uint32_t by_locations(const struct python_lines *t, uint64_t unit)
{
	struct cursor c = cursor_over(t->bytes, t->size);
	int64_t line = t->first;
	uint64_t end = 0;

	while (cursor_left(&c)) {
		uint8_t first = cursor_u8(&c);
		unsigned int code = first >> 3 & 15;

		if (!(first & 0x80))
			return 0;
		end += (first & 7) + 1u;
		line += line_delta(&c, code);
		if (!cursor_ok(&c))
			return 0;
		if (unit < end)
			return code == NONE ? 0 : plausible(line);
	}
	return 0;
}

uint32_t python_lines_at(const struct python_lines *t, uint32_t unit)
{
	switch (t->kind) {
	case PYTHON_TABLE_LNOTAB: return by_lnotab(t, (uint64_t)unit * 2);
	case PYTHON_TABLE_LINES: return by_ranges(t, (uint64_t)unit * 2);
	case PYTHON_TABLE_LOCATIONS: return by_locations(t, unit);
	default: return 0;
	}
}
