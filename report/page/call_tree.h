/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PAGE_CALL_TREE_H
#define REPORT_PAGE_CALL_TREE_H

/*
 * The stacks of one or two profiles as one tree of functions: frames that differ only by
 * line or address become one node, and below each root stands the command's name, as in
 * folded stacks, unless the stacks have such frames already (profile.led). Starts as { 0 }, apart
 * from functions.keys.
 */

#include "common/pairs.h"
#include "report/tables/functions.h"
#include "report/tables/threads.h"

struct call_node {
	uint32_t parent;   /* a lower number; of node 0, which stands for all: PRF_NONE */
	uint32_t function; /* of node 0: PRF_NONE */
};

struct call_tree {
	struct functions functions;
	struct call_node *nodes;
	size_t count, capacity;
	struct pairs ids; /* (parent, function) */
};

void call_tree_release(struct call_tree *t);

/*
 * Adds the stacks of a profile, whose threads `threads` are. of_entry gets one node for each
 * of profile.entries. ERROR_MEMORY.
 */
struct error *call_tree_add(struct call_tree *t, const struct profile *p,
			    const struct threads *threads, uint32_t **of_entry) ERROR_CHECKED;

/*
 * The tree in preorder, siblings by function name. Both arrays belong to the caller.
 * functions[i] is the function with the i-th name; nodes[i] the i-th node (nodes[0] is 0).
 */
struct call_order {
	uint32_t *functions, *function_rank; /* and the way back: where each function stands */
	uint32_t *nodes, *node_rank;
};

struct error *call_tree_order(const struct call_tree *t, struct call_order *order) ERROR_CHECKED;
void call_order_release(struct call_order *order);

#endif
