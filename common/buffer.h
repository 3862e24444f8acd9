/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_BUFFER_H
#define COMMON_BUFFER_H

/*
 * Bytes that grow at the end. Starts as { 0 }. An allocation that fails sets
 * `failed`: later appends do nothing, and the caller checks buffer_ok() once at the end.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	uint8_t *data;
	size_t size;
	size_t capacity;
	bool failed;
};

void buffer_release(struct buffer *b);

static inline bool buffer_ok(const struct buffer *b)
{
	return !b->failed;
}

/* Forgets the bytes, keeps the memory. */
static inline void buffer_clear(struct buffer *b)
{
	b->size = 0;
}

/* Room for `size` more bytes at the end, which count at once; NULL without memory. */
void *buffer_extend(struct buffer *b, size_t size);

void buffer_append(struct buffer *b, const void *data, size_t size);
void buffer_text(struct buffer *b, const char *text);
void buffer_printf(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *b, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* Little-endian integers and LEB128, as cursor.h reads them. */
void buffer_u8(struct buffer *b, uint8_t value);
void buffer_u16(struct buffer *b, uint16_t value);
void buffer_u32(struct buffer *b, uint32_t value);
void buffer_u64(struct buffer *b, uint64_t value);
void buffer_uleb(struct buffer *b, uint64_t value);
void buffer_sleb(struct buffer *b, int64_t value);

/* The bytes with a NUL after them that is not counted; "" without memory. */
const char *buffer_string(struct buffer *b);

#endif
