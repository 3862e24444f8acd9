/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_STACK_NODES_H
#define REPORT_MERGE_STACK_NODES_H

/*
 * The recorded stacks as nodes of one tree of named frames, in the shape that was asked for.
 * Starts as { 0 }.
 */

#include "report/merge/named_frames.h"
#include "report/merge/shape.h"

struct stack_nodes {
	const struct definitions *definitions;
	const struct used *used;
	struct named_frames *names;
	const struct shape *shape;
	struct node_tree tree;
	struct shape_state *states; /* of each recorded stack */
	uint8_t *matches;	    /* enum shape_match of each frame of the table */
	size_t matches_count;
	uint32_t delimiter, wake_delimiter; /* frames; PRF_NONE: not made yet */
};

/* Makes the nodes of all used stacks; the first three fields are the caller's. */
struct error *stack_nodes_make(struct stack_nodes *s) ERROR_CHECKED;
void stack_nodes_release(struct stack_nodes *s);

/* Where a recorded stack ended, or PRF_NONE a stack without frames. */
struct shape_state stack_nodes_state(const struct stack_nodes *s, uint32_t stack);

/*
 * The node of a wait at `node` with its waker above it: the waker's stack leaf first, then its
 * command. PRF_NONE without memory.
 */
uint32_t stack_nodes_add_waker(struct stack_nodes *s, uint32_t node, struct tally_waker waker);

#endif
