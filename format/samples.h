/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_SAMPLES_H
#define FORMAT_SAMPLES_H

/*
 * Blocks of samples (prf.5, "Samples"). A lane is a pair of event and CPU; the time of a sample is
 * stored as the distance from the one before it on the same lane, which for a timer is
 * its period and a little noise.
 */

#include "common/pairs.h"
#include "format/stack_column.h"
#include "format/tables.h"

/* Samples on their way into a block. Starts as { 0 }. */
struct samples_batch {
	size_t n, room;
	uint64_t *time_ns;
	uint32_t *lane, *task, *stack, *waker, *waker_task;
	bool wakers; /* a waker's task is known of one of them */
	uint64_t *weight;
	struct pairs lanes; /* (cpu, event) */
	struct stack_encoder stacks;
};

void samples_batch_release(struct samples_batch *b);

/* Whether the block has no room for another sample: it must be sealed first. */
static inline bool samples_batch_full(const struct samples_batch *b)
{
	return b->n >= WIRE_SAMPLES_MAX || b->lanes.count >= WIRE_LANES_MAX;
}

/* Adds a sample to a batch that is not full; false without memory. */
bool samples_batch_add(struct samples_batch *b, const struct prf_sample *sample);

/* How many definitions there are when the block is sealed. */
struct samples_counts {
	uint32_t events, tasks, stacks;
};

/*
 * The payload of all samples, at least one; and the range of their times. The batch is empty
 * afterwards. False without memory.
 */
bool samples_encode(struct samples_batch *b, const struct samples_counts *counts,
		    struct payload *out);

/* A block while it is read, some thousand samples at a time. Starts as { 0 }. */
struct samples_block;

struct samples_block *samples_block_new(void);
void samples_block_free(struct samples_block *b);

/*
 * Begins with a payload, which must stay as long as samples are taken from it. ERROR_CORRUPT or
 * _MEMORY.
 */
struct error *samples_decode(struct samples_block *b, struct tables *t,
			     struct cursor *c) ERROR_CHECKED;

/* Whether there are more samples, at any time. */
bool samples_left(const struct samples_block *b);

/*
 * The next samples, those from <= time < to only, of which there may be none; they stay until
 * the next call. ERROR_CORRUPT: no more are left.
 */
struct error *samples_next(struct samples_block *b, uint64_t from_ns, uint64_t to_ns,
			   struct prf_samples *samples) ERROR_CHECKED;

#endif
