/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/stack_nodes.h"

#include "common/shortage.h"

#include <stdlib.h>

void stack_nodes_release(struct stack_nodes *s)
{
	free(s->states);
	free(s->matches);
	node_tree_release(&s->tree);
	*s = (struct stack_nodes){ 0 };
}

static struct profile_frame *table_frame(const struct stack_nodes *s, uint32_t frame)
{
	return &s->names->table.frames[frame];
}

static uint8_t match_of(const struct stack_nodes *s, uint32_t frame)
{
	/*
	 * Frames added after the matching are separators and wakers' frames, which no expression
	 * applies to.
	 */
	return frame < s->matches_count ? s->matches[frame] : 0;
}

static struct error *match_frames(struct stack_nodes *s)
{
	const struct frame_table *table = &s->names->table;

	s->matches = calloc(table->count + 1, 1);
	if (!s->matches)
		return error_memory();
	s->matches_count = table->count;
	shortage_take();
	for (size_t i = 0; i < table->count; i++)
		s->matches[i] = shape_match(s->shape, &table->frames[i]);
	return shortage_take() ? error_memory() : NULL;
}

static uint32_t separator(struct stack_nodes *s, uint32_t *id, const char *name)
{
	struct profile_frame frame = { .name = name,
				       .linkage_name = "",
				       .file = "",
				       .object = PRF_NONE,
				       .kind = PROFILE_FRAME_SEPARATOR };

	if (*id == PRF_NONE)
		*id = frame_table_add(&s->names->table, &frame);
	return *id;
}

static bool same_function(const struct profile_frame *a, const struct profile_frame *b)
{
	return a->name == b->name && a->object == b->object && a->kind == b->kind;
}

static bool enters_kernel(const struct profile_frame *top, const struct profile_frame *next)
{
	return next->kind == PROFILE_FRAME_KERNEL &&
	       (top->kind == PROFILE_FRAME_USER || top->kind == PROFILE_FRAME_JIT ||
		top->kind == PROFILE_FRAME_SCRIPT);
}

/* Puts a frame on top of the stack; false without memory. */
static bool push_frame(struct stack_nodes *s, struct shape_state *state, uint32_t frame)
{
	const struct profile_frame *top = NULL, *next = table_frame(s, frame);
	uint32_t depth = 0;

	if (state->node != PRF_NONE) {
		depth = s->tree.nodes[state->node].depth;
		top = table_frame(s, s->tree.nodes[state->node].frame);
	}
	if (!shape_takes(s->shape, state, next, match_of(s, frame), depth))
		return true;
	/* The inner call's frame stands for both, so that lines and addresses are its own. */
	if (top && s->shape->collapse_recursion && same_function(top, next))
		return true;
	if (top && s->shape->delimiter && enters_kernel(top, next)) {
		uint32_t dash = separator(s, &s->delimiter, "-");

		state->node = dash == PRF_NONE ? PRF_NONE
					       : node_tree_add(&s->tree, state->node, dash);
		if (state->node == PRF_NONE)
			return false;
	}
	state->node = node_tree_add(&s->tree, state->node, frame);
	return state->node != PRF_NONE;
}

static struct error *make_states(struct stack_nodes *s)
{
	const struct prf_stack *stacks = s->definitions->stacks;
	struct shape_state *states = s->states;

	for (size_t i = 0; i < s->definitions->stack_count; i++) {
		struct shape_state state = { .node = PRF_NONE };
		const struct expansion *e;

		states[i] = state;
		if (!s->used->stacks[i])
			continue;
		if (stacks[i].parent != PRF_NONE)
			state = states[stacks[i].parent];
		if (stacks[i].frame != PRF_NONE) {
			e = &s->names->expansions[stacks[i].frame];
			for (uint32_t k = e->count; k-- > 0;)
				if (!push_frame(s, &state, s->names->frames[e->first + k]))
					return error_memory();
		}
		states[i] = state;
	}
	return NULL;
}

struct error *stack_nodes_make(struct stack_nodes *s)
{
	struct error *error;

	s->delimiter = s->wake_delimiter = PRF_NONE;
	s->states = malloc((s->definitions->stack_count + 1) * sizeof(*s->states));
	if (!s->states)
		return error_memory();
	error = match_frames(s);
	return error ? error : make_states(s);
}

struct shape_state stack_nodes_state(const struct stack_nodes *s, uint32_t stack)
{
	const struct shape_state none = { .node = PRF_NONE };

	return stack < s->definitions->stack_count ? s->states[stack] : none;
}

/* -------- wakers -------- */

/* The frame once more, as one of a waker. */
static uint32_t waker_frame(struct stack_nodes *s, uint32_t frame)
{
	struct profile_frame copy = *table_frame(s, frame);

	copy.waker = true;
	return frame_table_add(&s->names->table, &copy);
}

/* The node with the waker's stack above it, leaf first; PRF_NONE without memory. */
static uint32_t add_waker_stack(struct stack_nodes *s, uint32_t node, uint32_t waker)
{
	const struct prf_stack *stacks = s->definitions->stacks;
	uint32_t frame = separator(s, &s->wake_delimiter, "--");

	if (frame == PRF_NONE)
		return PRF_NONE;
	node = node_tree_add(&s->tree, node, frame);
	for (uint32_t i = waker;
	     i != PRF_NONE && node != PRF_NONE && s->tree.nodes[node].depth < 2 * SHAPE_DEPTH_MAX;
	     i = stacks[i].parent) {
		const struct expansion *e;

		if (stacks[i].frame == PRF_NONE)
			continue;
		e = &s->names->expansions[stacks[i].frame];
		for (uint32_t k = 0; k < e->count && node != PRF_NONE; k++) {
			frame = waker_frame(s, s->names->frames[e->first + k]);
			node = frame == PRF_NONE ? PRF_NONE : node_tree_add(&s->tree, node, frame);
		}
	}
	return node;
}

uint32_t stack_nodes_add_waker(struct stack_nodes *s, uint32_t node, struct tally_waker waker)
{
	uint32_t frame;
	struct profile_frame comm = {
		.linkage_name = "",
		.file = "",
		.object = PRF_NONE,
		.kind = PROFILE_FRAME_USER,
		.waker = true,
		.named = true,
	};

	node = add_waker_stack(s, node, waker.stack);
	if (node == PRF_NONE || !waker.comm)
		return node;
	comm.name = waker.comm;
	frame = frame_table_add(&s->names->table, &comm);
	return frame == PRF_NONE ? PRF_NONE : node_tree_add(&s->tree, node, frame);
}
