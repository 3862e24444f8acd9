/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PARQUET_ENCODING_H
#define REPORT_PARQUET_ENCODING_H

/*
 * How Parquet writes a page's numbers ("Encodings" in its specification): indices and levels as
 * the hybrid of repeated values and bit-packed ones, ascending numbers by their differences.
 */

#include "common/buffer.h"

/* `n` times the same value, which takes `bytes` bytes. */
void encode_repeated(struct buffer *b, size_t n, uint32_t value, unsigned int bytes);

/*
 * Bit-packed with a width of whole bytes, 1 to 4, though fewer bits might do: the same stack is
 * then the same bytes wherever it comes again, and the compressor makes more of that than
 * packing saves.
 */
void encode_indices(struct buffer *b, const uint32_t *indices, size_t n, unsigned int bytes);

/*
 * Levels of lists. Row i has counts[i] values; without any it still has one level.
 * Repetition: 0 where a row begins, 1 for its other values. Definition: 1 for a value, 0 for none.
 */
void encode_repetition(struct buffer *b, const uint32_t *counts, size_t rows);
void encode_definition(struct buffer *b, const uint32_t *counts, size_t rows);

/* DELTA_BINARY_PACKED. Differences wrap around, as the specification wants it. */
void encode_deltas(struct buffer *b, const uint64_t *values, size_t n);

#endif
