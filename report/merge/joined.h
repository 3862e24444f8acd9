/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_JOINED_H
#define REPORT_MERGE_JOINED_H

/*
 * What the samples of several traces refer to, each once. A trace is read, adds the stacks and
 * frames that its counted samples use, and forgets its own: what is kept follows how much differs
 * between traces, not how many there are. What only one process made, such as the code of a JIT
 * compiler, differs always. Starts as { 0 }.
 */

#include "common/map.h"
#include "common/pairs.h"
#include "report/profile/definitions.h"
#include "report/profile/tally.h"

struct joined {
	struct pairs frames; /* (offset, object and flags) */
	struct pairs stacks; /* (parent, frame) */
	struct map objects;  /* for trace_sinks.objects */

	/* Names that the traces gave to frames; of equal frames, those of the first trace. */
	struct recorded_names names;
	uint32_t *named_by; /* of each frame: number of the trace that named it, counted from 1 */
	size_t named_capacity;
	uint32_t trace_count;

	/* Made by joined_finish(). */
	struct prf_stack *all_stacks;
	struct prf_frame *all_frames;
};

void joined_release(struct joined *j);

/*
 * Takes over what the tally counted of the trace, which was read last: the tally's stacks become
 * those here, and the trace forgets its own. ERROR_MEMORY.
 */
struct error *joined_add(struct joined *j, struct trace *t, struct tally *tally) ERROR_CHECKED;

/* After the last trace: all of it. ERROR_MEMORY. */
struct error *joined_finish(struct joined *j, struct definitions *d) ERROR_CHECKED;

/* What the numbers of a trace are here, when it is read again. Starts as { 0 }. */
struct joined_numbers {
	uint32_t *frames, *stacks; /* PRF_NONE: no counted sample used it */
	size_t frame_count, stack_count, frame_capacity, stack_capacity;
};

void joined_numbers_release(struct joined_numbers *n);

/*
 * Follows the definitions that the reader has met since the last call; `t` is the trace as it was
 * read first. False without memory.
 */
bool joined_follow(const struct joined *j, const struct trace *t, const struct prf_reader *reader,
		   struct joined_numbers *n);

#endif
