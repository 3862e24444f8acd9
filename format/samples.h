/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_SAMPLES_H
#define FORMAT_SAMPLES_H

/*
 * Blocks of samples (prf.5, "Samples"). A lane is a pair of event and CPU; the time of a sample is
 * told as the distance from the one before it on the same lane, which for a timer is
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

/* PRF_ERROR_MEMORY, or _ARGUMENT when the block has no room for another: seal it first. */
int samples_batch_add(struct samples_batch *b, const struct prf_sample *sample);

/* How many definitions there are when the block is sealed. */
struct samples_counts {
	uint32_t events, tasks, stacks;
};

/*
 * The payload of all samples, at least one; and the range of their times. The batch is empty
 * afterwards. PRF_ERROR_MEMORY otherwise.
 */
int samples_encode(struct samples_batch *b, const struct samples_counts *counts, struct buffer *out,
		   uint64_t *from_ns, uint64_t *to_ns);

/* A block while it is read, some thousand samples at a time. Starts as { 0 }. */
struct samples_block;

struct samples_block *samples_block_new(void);
void samples_block_free(struct samples_block *b);

/*
 * Begins with a payload, which must stay as long as samples are taken from it. PRF_ERROR_CORRUPT
 * with the reason, or _MEMORY.
 */
int samples_decode(struct samples_block *b, struct tables *t, struct cursor *c,
		   const char **reason);

/*
 * The next samples, those from <= time < to only; they stay until the next call. 1, or 0 at
 * the end, or PRF_ERROR_CORRUPT with the reason.
 */
int samples_next(struct samples_block *b, uint64_t from_ns, uint64_t to_ns,
		 struct prf_samples *samples, const char **reason);

#endif
