/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/parquet/encoding.h"

#include <string.h>

#define DELTA_BLOCK 128
#define DELTA_MINIBLOCKS 4
#define DELTA_MINIBLOCK (DELTA_BLOCK / DELTA_MINIBLOCKS)

/* Bits, the lowest first, that go where there is room for them. */
struct bits {
	uint8_t *at;
	uint64_t waiting;
	unsigned int count; /* of bits that wait, below 8 between two calls */
};

/* `width` is at most 56, and the value fits it. */
static inline void bits_put(struct bits *w, uint64_t value, unsigned int width)
{
	w->waiting |= value << w->count;
	for (w->count += width; w->count >= 8; w->count -= 8) {
		*w->at++ = (uint8_t)w->waiting;
		w->waiting >>= 8;
	}
}

static void bits_end(struct bits *w)
{
	if (w->count)
		*w->at++ = (uint8_t)w->waiting;
}

/* -------- the hybrid -------- */

void encode_repeated(struct buffer *b, size_t n, uint32_t value, unsigned int bytes)
{
	buffer_uleb(b, (uint64_t)n << 1);
	for (unsigned int i = 0; i < bytes; i++)
		buffer_u8(b, (uint8_t)(value >> 8 * i));
}

/* Begins a run of bit-packed values, which come in groups of eight; the last may have too many. */
static uint8_t *begin_packed(struct buffer *b, size_t n, unsigned int width)
{
	size_t groups = (n + 7) / 8;
	uint8_t *room;

	buffer_uleb(b, (uint64_t)groups << 1 | 1);
	room = buffer_extend(b, groups * width);
	if (room)
		memset(room + (groups - 1) * width, 0, width);
	return room;
}

/* Inlined with each size, so that it is a loop of stores. */
static inline void put_indices(uint8_t *at, const uint32_t *indices, size_t n, unsigned int bytes)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned int k = 0; k < bytes; k++)
			*at++ = (uint8_t)(indices[i] >> 8 * k);
}

void encode_indices(struct buffer *b, const uint32_t *indices, size_t n, unsigned int bytes)
{
	uint8_t *at = n ? begin_packed(b, n, 8 * bytes) : NULL;

	if (!at)
		return;
	switch (bytes) {
	case 1: put_indices(at, indices, n, 1); break;
	case 2: put_indices(at, indices, n, 2); break;
	case 3: put_indices(at, indices, n, 3); break;
	default: put_indices(at, indices, n, 4);
	}
}

static size_t level_count(const uint32_t *counts, size_t rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows; i++)
		n += counts[i] ? counts[i] : 1;
	return n;
}

static void put_ones(struct bits *w, uint32_t n)
{
	for (; n > 48; n -= 48)
		bits_put(w, (UINT64_C(1) << 48) - 1, 48);
	bits_put(w, (UINT64_C(1) << n) - 1, n);
}

void encode_repetition(struct buffer *b, const uint32_t *counts, size_t rows)
{
	struct bits w = { .at = rows ? begin_packed(b, level_count(counts, rows), 1) : NULL };

	if (!w.at)
		return;
	for (size_t i = 0; i < rows; i++) {
		bits_put(&w, 0, 1);
		if (counts[i])
			put_ones(&w, counts[i] - 1);
	}
	bits_end(&w);
}

void encode_definition(struct buffer *b, const uint32_t *counts, size_t rows)
{
	size_t empty = 0, n = level_count(counts, rows);
	struct bits w = { 0 };

	for (size_t i = 0; i < rows; i++)
		empty += !counts[i];
	if (!empty && rows)
		encode_repeated(b, n, 1, 1);
	else if (rows)
		w.at = begin_packed(b, n, 1);
	if (!w.at)
		return;
	for (size_t i = 0; i < rows; i++)
		if (counts[i])
			put_ones(&w, counts[i]);
		else
			bits_put(&w, 0, 1);
	bits_end(&w);
}

/* -------- differences -------- */

static void buffer_zigzag(struct buffer *b, uint64_t value)
{
	buffer_uleb(b, value << 1 ^ (uint64_t)((int64_t)value >> 63));
}

static unsigned int width_of(const uint64_t *values, size_t n)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++)
		all |= values[i];
	return all ? 64 - (unsigned int)__builtin_clzll(all) : 0;
}

/* `n` values, 0 and more, filled up with zeros to a whole miniblock. */
static void encode_miniblock(struct buffer *b, const uint64_t *values, unsigned int width)
{
	struct bits w = { .at = width ? buffer_extend(b, DELTA_MINIBLOCK / 8 * width) : NULL };

	for (size_t i = 0; w.at && i < DELTA_MINIBLOCK; i++) {
		unsigned int low = width < 32 ? width : 32;

		bits_put(&w, values[i] & ((UINT64_C(1) << low) - 1), low);
		bits_put(&w, low < width ? values[i] >> low : 0, width - low);
	}
}

/* The differences, at most DELTA_BLOCK, of which the array has room. */
static void encode_block(struct buffer *b, uint64_t *deltas, size_t n)
{
	int64_t least = (int64_t)deltas[0];
	unsigned int widths[DELTA_MINIBLOCKS];

	for (size_t i = 1; i < n; i++)
		if ((int64_t)deltas[i] < least)
			least = (int64_t)deltas[i];
	for (size_t i = 0; i < DELTA_BLOCK; i++)
		deltas[i] = i < n ? deltas[i] - (uint64_t)least : 0;
	buffer_zigzag(b, (uint64_t)least);
	for (size_t i = 0; i < DELTA_MINIBLOCKS; i++) {
		widths[i] = width_of(deltas + i * DELTA_MINIBLOCK, DELTA_MINIBLOCK);
		buffer_u8(b, (uint8_t)widths[i]);
	}
	/* Miniblocks after the last value are left out. */
	for (size_t i = 0; i < DELTA_MINIBLOCKS && i * DELTA_MINIBLOCK < n; i++)
		encode_miniblock(b, deltas + i * DELTA_MINIBLOCK, widths[i]);
}

void encode_deltas(struct buffer *b, const uint64_t *values, size_t n)
{
	uint64_t deltas[DELTA_BLOCK];

	buffer_uleb(b, DELTA_BLOCK);
	buffer_uleb(b, DELTA_MINIBLOCKS);
	buffer_uleb(b, n);
	buffer_zigzag(b, n ? values[0] : 0);
	for (size_t at = 1; at < n; at += DELTA_BLOCK) {
		size_t count = n - at < DELTA_BLOCK ? n - at : DELTA_BLOCK;

		for (size_t i = 0; i < count; i++)
			deltas[i] = values[at + i] - values[at + i - 1];
		encode_block(b, deltas, count);
	}
}
