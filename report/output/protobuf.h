/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_OUTPUT_PROTOBUF_H
#define REPORT_OUTPUT_PROTOBUF_H

/*
 * Protocol buffers, as much of writing them as a profile needs: messages go straight from
 * the tables into bytes, one small message at a time. The libraries build the whole profile
 * as a tree of structs first, which takes several times the memory and time of the bytes.
 */

#include "common/buffer.h"

#include <string.h>

#define PROTOBUF_NUMBER_MAX 10 /* bytes */

/* Writes a number where there is room for it; what follows goes where it ends. */
static inline uint8_t *protobuf_put(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

static inline uint8_t *protobuf_put_bytes(uint8_t *at, unsigned int field, const void *data,
					  size_t size)
{
	at = protobuf_put(at, field << 3 | 2);
	at = protobuf_put(at, size);
	memcpy(at, data, size);
	return at + size;
}

static inline void protobuf_number(struct buffer *b, unsigned int field, uint64_t value)
{
	if (!value)
		return; /* the default */
	buffer_uleb(b, field << 3);
	buffer_uleb(b, value);
}

/* A string, a packed list, or a message that was written to a buffer of its own. */
static inline void protobuf_bytes(struct buffer *b, unsigned int field, const void *data,
				  size_t size)
{
	buffer_uleb(b, field << 3 | 2);
	buffer_uleb(b, size);
	buffer_append(b, data, size);
}

static inline void protobuf_message(struct buffer *b, unsigned int field,
				    const struct buffer *message)
{
	protobuf_bytes(b, field, message->data, message->size);
}

#endif
