/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_COLUMN_H
#define FORMAT_COLUMN_H

/*
 * Columns (prf.5, "Columns"): n integers as a base and byte planes. Plane j holds byte j
 * of (value - base) for all n, so that zstd sees the noisy low bytes and the quiet high bytes
 * apart. A column whose values are all equal has no planes.
 *
 * Arithmetic is modulo 2^64, so that signed values need no rule of their own.
 */

#include <stdbool.h>

#include "common/cursor.h"
#include "format/payload.h"

struct column {
	uint64_t base;
	unsigned int planes; /* 0: constant */
	size_t n;
	const uint8_t *bytes; /* plane j starts at bytes + j * n */
};

/*
 * Appends `n` values and notes where their planes are. `base` is subtracted from each, and no
 * difference may be "negative" in the caller's sense. With `dense` there is at least one plane
 * (see prf.5, "Limits").
 */
void column_encode(struct payload *out, const uint64_t *values, size_t n, uint64_t base,
		   bool dense);

/* As above with the smallest value as base. */
void column_encode_min(struct payload *out, const uint64_t *values, size_t n, bool dense);

/* Points `column` to `n` values in the cursor's bytes; the cursor fails when they are not there. */
void column_decode(struct cursor *c, size_t n, bool dense, struct column *column);

/* Values `from` to `from + n`. */
void column_read(const struct column *column, size_t from, size_t n, uint64_t *values);

/* The same into 32 bits; returns a value that is at least as large as the largest, before it was
 * cut. */
uint64_t column_read_u32(const struct column *column, size_t from, size_t n, uint32_t *values);

#endif
