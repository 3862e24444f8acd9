/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_FRAME_TABLE_H
#define REPORT_MERGE_FRAME_TABLE_H

/*
 * Distinct frames and the tree of stacks over them, while a profile is built. Both number
 * equal things once. Starts as { 0 }.
 */

#include "common/pairs.h"
#include "report/profile/profile.h"
#include "report/profile/text_pool.h"

struct frame_table {
	struct text_pool texts;
	struct profile_frame *frames;
	size_t count, capacity;
	struct map ids;
};

void frame_table_release(struct frame_table *t);

/*
 * The number of a frame; its text is copied. Frames are equal when name, object, kind and
 * flags are, and line and offset where they are filled. PRF_NONE without memory.
 */
uint32_t frame_table_add(struct frame_table *t, const struct profile_frame *frame);

struct node_tree {
	struct profile_node *nodes;
	size_t count, capacity;
	struct pairs ids; /* (parent, frame) */
};

void node_tree_release(struct node_tree *t);

/* The node of `frame` on `parent`; PRF_NONE without memory. */
uint32_t node_tree_add(struct node_tree *t, uint32_t parent, uint32_t frame);

#endif
