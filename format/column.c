/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/column.h"

static unsigned int bytes_of(uint64_t value)
{
	unsigned int n = 0;

	for (; value; value >>= 8)
		n++;
	return n;
}

void column_encode(struct payload *out, const uint64_t *values, size_t n, uint64_t base, bool dense)
{
	uint64_t all = 0;
	unsigned int planes;
	uint8_t *at;

	for (size_t i = 0; i < n; i++)
		all |= values[i] - base;
	planes = bytes_of(all);
	if (dense && !planes)
		planes = 1;
	buffer_u8(&out->raw, (uint8_t)planes);
	buffer_uleb(&out->raw, base);
	at = planes && n ? buffer_extend(&out->raw, planes * n) : NULL;
	for (unsigned int j = 0; at && j < planes; j++, at += n)
		for (size_t i = 0; i < n; i++)
			at[i] = (uint8_t)((values[i] - base) >> (8 * j));
	payload_note_planes(out, n, planes);
}

void column_encode_min(struct payload *out, const uint64_t *values, size_t n, bool dense)
{
	uint64_t min = n ? values[0] : 0;

	for (size_t i = 1; i < n; i++)
		if (values[i] < min)
			min = values[i];
	column_encode(out, values, n, min, dense);
}

void column_decode(struct cursor *c, size_t n, bool dense, struct column *column)
{
	column->planes = cursor_u8(c);
	column->base = cursor_uleb(c);
	column->n = n;
	column->bytes = NULL;
	if (column->planes > 8 || (dense && !column->planes) ||
	    (column->planes && n > cursor_left(c) / column->planes))
		cursor_fail(c);
	else if (column->planes)
		column->bytes = cursor_bytes(c, (uint64_t)n * column->planes);
}

/*
 * Nearly all columns of a trace have one to three planes. Each of these has a loop of its own,
 * without a loop over planes inside, which the compiler turns into vector instructions.
 */
void column_read(const struct column *column, size_t from, size_t n, uint64_t *restrict values)
{
	const uint64_t base = column->base;
	const uint8_t *p0, *p1, *p2;

	if (!column->planes) {
		for (size_t i = 0; i < n; i++)
			values[i] = base;
		return;
	}
	p0 = column->bytes + from;
	p1 = p0 + column->n;
	p2 = p1 + column->n;
	switch (column->planes) {
	case 1:
		for (size_t i = 0; i < n; i++)
			values[i] = base + p0[i];
		break;
	case 2:
		for (size_t i = 0; i < n; i++)
			values[i] = base + ((uint32_t)p1[i] << 8 | p0[i]);
		break;
	case 3:
		for (size_t i = 0; i < n; i++)
			values[i] = base + ((uint32_t)p2[i] << 16 | (uint32_t)p1[i] << 8 | p0[i]);
		break;
	default:
		for (size_t i = 0; i < n; i++)
			values[i] = base + p0[i];
		for (unsigned int j = 1; j < column->planes; j++) {
			const uint8_t *p = p0 + j * column->n;

			for (size_t i = 0; i < n; i++)
				values[i] += (uint64_t)p[i] << (8 * j);
		}
	}
}

/* Up to three planes on a base that leaves room for them: no sum can exceed 32 bits. */
static uint64_t read_small(const struct column *column, size_t from, size_t n,
			   uint32_t *restrict values)
{
	const uint32_t base = (uint32_t)column->base;
	const uint8_t *p0, *p1, *p2;
	uint32_t max = base;

	if (!column->planes) {
		for (size_t i = 0; i < n; i++)
			values[i] = base;
		return max;
	}
	p0 = column->bytes + from;
	p1 = p0 + column->n;
	p2 = p1 + column->n;
	switch (column->planes) {
	case 1:
		for (size_t i = 0; i < n; i++) {
			values[i] = base + p0[i];
			max = values[i] > max ? values[i] : max;
		}
		break;
	case 2:
		for (size_t i = 0; i < n; i++) {
			values[i] = base + ((uint32_t)p1[i] << 8 | p0[i]);
			max = values[i] > max ? values[i] : max;
		}
		break;
	default:
		for (size_t i = 0; i < n; i++) {
			values[i] = base + ((uint32_t)p2[i] << 16 | (uint32_t)p1[i] << 8 | p0[i]);
			max = values[i] > max ? values[i] : max;
		}
	}
	return max;
}

uint64_t column_read_u32(const struct column *column, size_t from, size_t n, uint32_t *values)
{
	uint64_t max = 0;

	/* The sum may exceed 32 bits in a hostile trace: then it is computed in 64, to be seen. */
	if (column->planes <= 3 && column->base <= UINT32_MAX - 0xffffff)
		return read_small(column, from, n, values);
	for (size_t i = 0; i < n; i++) {
		uint64_t value = column->base;

		for (unsigned int j = 0; j < column->planes; j++)
			value += (uint64_t)column->bytes[j * column->n + from + i] << (8 * j);
		values[i] = (uint32_t)value;
		max = value > max ? value : max;
	}
	return max;
}
