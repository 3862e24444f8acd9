/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_STACK_COLUMN_H
#define FORMAT_STACK_COLUMN_H

/*
 * The stacks of a block of samples (prf.5, "Stack column"). Few stacks are taken often, many once
 * or twice, and those that were never seen before have the next ids: so there is one byte per
 * sample, which is an index into the block's own list of frequent stacks, or a step beyond the
 * highest id so far, or a mark that the id stands in a list of the others.
 *
 * Values here are ids + 1, and 0 is a sample without a stack.
 */

#include "common/pairs.h"
#include "format/column.h"

#define STACK_COLUMN_FREQUENT 248 /* bytes below are frequent stacks */
#define STACK_COLUMN_OTHER 255

/* What an encoder keeps between blocks. Starts as { 0 }. */
struct stack_encoder {
	uint32_t highest; /* value so far */
	struct pairs distinct;
	uint32_t *counts, *order;
	size_t room;
};

void stack_encoder_release(struct stack_encoder *e);

/* False without memory. `room` is for `n` values. */
bool stack_column_encode(struct stack_encoder *e, struct payload *out, const uint32_t *stacks,
			 size_t n, uint64_t *room);

struct stack_column {
	uint32_t highest;
	uint32_t frequent[STACK_COLUMN_FREQUENT];
	const uint8_t *bytes;
	size_t next; /* of `bytes` */
	struct column others;
	size_t next_other;
};

/* The cursor fails when there are no such `n` values in its bytes. */
void stack_column_decode(struct cursor *c, size_t n, struct stack_column *column);

/*
 * The next `n` values, one after another. `room` holds `n` values. Returns one that is at least as
 * large as the largest; above UINT32_MAX when the column is broken.
 */
uint64_t stack_column_read(struct stack_column *column, size_t n, uint32_t *values, uint32_t *room);

#endif
