/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_release(struct buffer *b)
{
	free(b->data);
	*b = (struct buffer){ 0 };
}

static bool reserve(struct buffer *b, size_t more)
{
	size_t capacity = b->capacity ? b->capacity : 64;
	uint8_t *data;

	/* Half of the address space: so doubling the capacity below cannot wrap around. */
	if (b->failed || more > SIZE_MAX / 2 - b->size)
		goto fail;
	if (b->size + more <= b->capacity)
		return true;
	while (capacity < b->size + more)
		capacity *= 2;
	data = realloc(b->data, capacity);
	if (!data)
		goto fail;
	b->data = data;
	b->capacity = capacity;
	return true;
fail:
	b->failed = true;
	return false;
}

void *buffer_extend(struct buffer *b, size_t size)
{
	void *room;

	if (!reserve(b, size ? size : 1))
		return NULL;
	room = b->data + b->size;
	b->size += size;
	return room;
}

void buffer_append(struct buffer *b, const void *data, size_t size)
{
	void *room;

	if (!size)
		return;
	room = buffer_extend(b, size);
	if (room)
		memcpy(room, data, size);
}

void buffer_text(struct buffer *b, const char *text)
{
	buffer_append(b, text, strlen(text));
}

void buffer_vprintf(struct buffer *b, const char *format, va_list args)
{
	va_list again;
	int length;

	va_copy(again, args);
	/* Measured first: a target's names in the text have no bound of their own. */
	length = vsnprintf(NULL, 0, format, args);
	if (length < 0 || !reserve(b, (size_t)length + 1)) {
		b->failed = true;
	} else {
		vsnprintf((char *)b->data + b->size, (size_t)length + 1, format, again);
		b->size += (size_t)length;
	}
	va_end(again);
}

void buffer_printf(struct buffer *b, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	buffer_vprintf(b, format, args);
	va_end(args);
}

void buffer_u8(struct buffer *b, uint8_t value)
{
	buffer_append(b, &value, 1);
}

static void append_little_endian(struct buffer *b, uint64_t value, size_t size)
{
	uint8_t *room = buffer_extend(b, size);

	for (size_t i = 0; room && i < size; i++)
		room[i] = (uint8_t)(value >> (8 * i));
}

void buffer_u16(struct buffer *b, uint16_t value)
{
	append_little_endian(b, value, 2);
}

void buffer_u32(struct buffer *b, uint32_t value)
{
	append_little_endian(b, value, 4);
}

void buffer_u64(struct buffer *b, uint64_t value)
{
	append_little_endian(b, value, 8);
}

void buffer_uleb(struct buffer *b, uint64_t value)
{
	uint8_t bytes[10];
	size_t n = 0;

	do {
		bytes[n] = (uint8_t)(value & 0x7f);
		value >>= 7;
		if (value)
			bytes[n] |= 0x80;
		n++;
	} while (value);
	buffer_append(b, bytes, n);
}

void buffer_sleb(struct buffer *b, int64_t value)
{
	bool more = true;

	while (more) {
		uint8_t byte = (uint8_t)(value & 0x7f);

		value >>= 7;
		more = !((value == 0 && !(byte & 0x40)) || (value == -1 && (byte & 0x40)));
		buffer_u8(b, more ? byte | 0x80 : byte);
	}
}

const char *buffer_string(struct buffer *b)
{
	if (!reserve(b, 1))
		return "";
	b->data[b->size] = 0;
	return (const char *)b->data;
}
