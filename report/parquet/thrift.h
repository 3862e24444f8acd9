/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PARQUET_THRIFT_H
#define REPORT_PARQUET_THRIFT_H

/*
 * Thrift's compact protocol, as much of writing it as the headers of Parquet need. Fields are
 * written in ascending order, each with its distance from the one before it.
 *
 *     struct thrift header = thrift_begin(out);
 *
 *     thrift_i32(&header, 1, value);
 *     nested = thrift_nested(&header, 5);
 *     ...
 *     thrift_end(&nested);
 *     thrift_end(&header);
 */

#include "common/buffer.h"

#include <string.h>

enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

/* A struct that is being written. */
struct thrift {
	struct buffer *out;
	unsigned int last; /* the field before */
};

static inline struct thrift thrift_begin(struct buffer *out)
{
	return (struct thrift){ .out = out };
}

static inline void thrift_end(const struct thrift *t)
{
	buffer_u8(t->out, 0);
}

/* Fields are at most 15 after the one before, as all of Parquet's are. */
static inline void thrift_field(struct thrift *t, unsigned int field, enum thrift_type type)
{
	buffer_u8(t->out, (uint8_t)((field - t->last) << 4 | type));
	t->last = field;
}

static inline void thrift_number(struct buffer *out, int64_t value)
{
	buffer_uleb(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline void thrift_text(struct buffer *out, const char *text)
{
	buffer_uleb(out, strlen(text));
	buffer_text(out, text);
}

static inline void thrift_i32(struct thrift *t, unsigned int field, int32_t value)
{
	thrift_field(t, field, THRIFT_I32);
	thrift_number(t->out, value);
}

static inline void thrift_i64(struct thrift *t, unsigned int field, int64_t value)
{
	thrift_field(t, field, THRIFT_I64);
	thrift_number(t->out, value);
}

static inline void thrift_bytes(struct thrift *t, unsigned int field, const void *data, size_t size)
{
	thrift_field(t, field, THRIFT_BINARY);
	buffer_uleb(t->out, size);
	buffer_append(t->out, data, size);
}

static inline void thrift_string(struct thrift *t, unsigned int field, const char *text)
{
	thrift_bytes(t, field, text, strlen(text));
}

/* The elements follow: thrift_number(), thrift_text(), or structs from thrift_begin() on. */
static inline void thrift_list(struct thrift *t, unsigned int field, enum thrift_type type,
			       size_t count)
{
	thrift_field(t, field, THRIFT_LIST);
	buffer_u8(t->out, (uint8_t)((count < 15 ? count : 15) << 4 | type));
	if (count >= 15)
		buffer_uleb(t->out, count);
}

static inline struct thrift thrift_nested(struct thrift *t, unsigned int field)
{
	thrift_field(t, field, THRIFT_STRUCT);
	return thrift_begin(t->out);
}

#endif
