/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_CURSOR_H
#define COMMON_CURSOR_H

/*
 * A place in bytes that came from outside. Every read is checked against the end;
 * the first read that does not fit sets `failed`, returns 0 and leaves the cursor at the
 * end, and all later reads return 0 too. So a decoder may read a whole record and check
 * once, with cursor_ok(), before it uses any of it.
 *
 * All integers are little-endian, as in every ELF file, trace and jitdump we read.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *start;
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static inline struct cursor cursor_over(const void *data, size_t size)
{
	const uint8_t *bytes = data;

	return (struct cursor){ .start = bytes, .at = bytes, .end = bytes ? bytes + size : bytes };
}

static inline bool cursor_ok(const struct cursor *c)
{
	return !c->failed;
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* Bytes from the start to here. */
static inline size_t cursor_offset(const struct cursor *c)
{
	return (size_t)(c->at - c->start);
}

static inline void cursor_fail(struct cursor *c)
{
	c->failed = true;
	c->at = c->end;
}

/* The next `size` bytes, or NULL when there are fewer. They stay where they are. */
static inline const uint8_t *cursor_bytes(struct cursor *c, uint64_t size)
{
	const uint8_t *bytes = c->at;

	if (c->failed || size > cursor_left(c)) {
		cursor_fail(c);
		return NULL;
	}
	/* Of no bytes at all (NULL) there is nothing to pass over. */
	if (size)
		c->at += size;
	return bytes;
}

static inline void cursor_skip(struct cursor *c, uint64_t size)
{
	cursor_bytes(c, size);
}

/* Moves to `offset` bytes from the start, forwards or back. */
static inline void cursor_seek(struct cursor *c, uint64_t offset)
{
	if (c->failed || offset > (uint64_t)(c->end - c->start))
		cursor_fail(c);
	else if (offset)
		c->at = c->start + offset;
	else
		c->at = c->start;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	/* A failed cursor is at its end, too. */
	if (c->at == c->end) {
		cursor_fail(c);
		return 0;
	}
	return *c->at++;
}

#define CURSOR_READ(bits)                                                                          \
	static inline uint##bits##_t cursor_u##bits(struct cursor *c)                              \
	{                                                                                          \
		const uint8_t *bytes = cursor_bytes(c, bits / 8);                                  \
		uint##bits##_t value = 0;                                                          \
                                                                                                   \
		if (!bytes)                                                                        \
			return 0;                                                                  \
		for (int i = bits / 8 - 1; i >= 0; i--)                                            \
			value = (uint##bits##_t)(value << 8 | bytes[i]);                           \
		return value;                                                                      \
	}
CURSOR_READ(16)
CURSOR_READ(32)
CURSOR_READ(64)
#undef CURSOR_READ

/* Unsigned LEB128 of at most 64 bits; a longer one, or one whose value does not fit, fails. */
static inline uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t value = 0;

	if (c->at != c->end && *c->at < 0x80) /* most are this short */
		return *c->at++;
	for (unsigned int shift = 0; shift < 70; shift += 7) {
		uint8_t byte = cursor_u8(c);

		/* Nine bytes hold 63 bits: the tenth has room for one more. */
		if (c->failed || (shift == 63 && byte > 1))
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor_fail(c);
	return 0;
}

/* Signed LEB128 of at most 64 bits. */
static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		uint8_t byte = cursor_u8(c);

		if (c->failed)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		/* Bit 6 of the last byte is the sign, for all bits above it. */
		if ((byte & 0x40) && shift + 7 < 64)
			value |= ~UINT64_C(0) << (shift + 7);
		return (int64_t)value;
	}
	cursor_fail(c);
	return 0;
}

/* The text up to and with its NUL, or NULL (and failed) when there is no NUL before the end. */
static inline const char *cursor_string(struct cursor *c)
{
	const uint8_t *text = c->at;
	const uint8_t *nul = cursor_left(c) ? memchr(text, 0, cursor_left(c)) : NULL;

	if (!nul) {
		cursor_fail(c);
		return NULL;
	}
	c->at = nul + 1;
	return (const char *)text;
}

/*
 * Likewise, where the text and its NUL have at most `most` bytes. Without such a bound, a million
 * references to one endless text take hours.
 */
static inline const char *cursor_short_string(struct cursor *c, size_t most)
{
	struct cursor start = *c;
	const char *text;

	if (cursor_left(&start) > most)
		start.end = start.at + most;
	text = cursor_string(&start);
	if (text)
		c->at = start.at;
	else
		cursor_fail(c);
	return text;
}

#endif
