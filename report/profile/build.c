/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/build.h"

#include "common/array.h"
#include "common/buffer.h"
#include "report/profile/describe.h"
#include "report/profile/frame_name.h"
#include "report/profile/frame_table.h"
#include "report/profile/label_frames.h"
#include "report/profile/regroup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a recorded frame becomes: `count` frames of the table, innermost first. */
struct expansion {
	uint32_t first, count;
	uint32_t query; /* PRF_NONE: nothing to look up */
};

struct built {
	struct profile profile; /* first, so that a pointer to it is one to all */
	struct build_options options;
	struct frame_table frames;
	struct node_tree tree;
	struct text_pool texts;

	uint8_t **used_stacks;	       /* [trace][stack] */
	struct expansion **expansions; /* [trace][frame]; all 0 when not used */
	uint32_t *expanded;	       /* frames of all expansions */
	size_t expanded_count, expanded_capacity;
	uint8_t *matches; /* enum shape_match of each frame of the table */
	size_t matches_count;
	struct shape_state *states; /* of each global stack */
	size_t stack_count;

	uint32_t **objects; /* [trace][object]: number in profile.objects */
	struct map object_ids;
	struct profile_object *object_list;
	uint32_t *object_symbolizer; /* number in the symbolizer */
	size_t object_count;

	struct described described;
	struct slices_worth *worths; /* of each of the tally's groups */
	struct regrouped regrouped;
	struct label_frames leading;
	uint32_t delimiter, wake_delimiter; /* frames; PRF_NONE: not made yet */
};

static struct built *built_of(const struct profile *p)
{
	return (struct built *)(uintptr_t)p;
}

void profile_free(struct profile *p)
{
	struct built *b = built_of(p);

	if (!b)
		return;
	for (size_t i = 0; i < b->options.trace_count; i++) {
		if (b->used_stacks)
			free(b->used_stacks[i]);
		if (b->expansions)
			free(b->expansions[i]);
		if (b->objects)
			free(b->objects[i]);
	}
	free(b->used_stacks);
	free(b->expansions);
	free(b->objects);
	free(b->expanded);
	free(b->matches);
	free(b->states);
	free(b->object_list);
	free(b->object_symbolizer);
	map_release(&b->object_ids);
	described_release(&b->described);
	free(b->worths);
	regrouped_release(&b->regrouped);
	label_frames_release(&b->leading);
	frame_table_release(&b->frames);
	node_tree_release(&b->tree);
	text_pool_release(&b->texts);
	free(b);
}

/* -------- what was counted -------- */

/* The trace that a global stack belongs to. */
static uint32_t trace_of_stack(const struct built *b, uint32_t stack)
{
	uint32_t i = (uint32_t)b->options.trace_count;

	while (--i && b->options.traces[i].stack_base > stack)
		;
	return i;
}

static void mark_stack(struct built *b, uint32_t stack)
{
	uint32_t trace;

	if (stack == PRF_NONE)
		return;
	trace = trace_of_stack(b, stack);
	b->used_stacks[trace][stack - b->options.traces[trace].stack_base] = 1;
}

/* Marks the stacks that cells name, the stacks below them, and their frames. */
static int mark_used(struct built *b)
{
	size_t n;
	const struct tally_cell *cells = tally_cells(b->options.tally, &n);

	b->used_stacks = calloc(b->options.trace_count, sizeof(*b->used_stacks));
	b->expansions = calloc(b->options.trace_count, sizeof(*b->expansions));
	if (!b->used_stacks || !b->expansions)
		return -ENOMEM;
	for (size_t i = 0; i < b->options.trace_count; i++) {
		const struct prf_reader *r = b->options.traces[i].reader;

		b->used_stacks[i] = calloc(prf_reader_stacks(r) + 1, 1);
		b->expansions[i] = calloc(prf_reader_frames(r) + 1, sizeof(**b->expansions));
		if (!b->used_stacks[i] || !b->expansions[i])
			return -ENOMEM;
		b->stack_count = b->options.traces[i].stack_base + prf_reader_stacks(r);
	}
	for (size_t i = 0; i < n; i++) {
		mark_stack(b, cells[i].stack);
		if (cells[i].waker != PRF_NONE)
			mark_stack(b, tally_waker(b->options.tally, cells[i].waker).stack);
	}
	for (size_t i = 0; i < b->options.trace_count; i++) {
		const struct prf_reader *r = b->options.traces[i].reader;
		const struct prf_stack *stacks = prf_reader_all_stacks(r);

		for (size_t s = prf_reader_stacks(r); s-- > 0;) {
			if (!b->used_stacks[i][s])
				continue;
			if (stacks[s].parent != PRF_NONE)
				b->used_stacks[i][stacks[s].parent] = 1;
			if (stacks[s].frame != PRF_NONE)
				b->expansions[i][stacks[s].frame].count = 1;
		}
	}
	return 0;
}

/* -------- objects -------- */

/* Objects of several traces are one when they are the same file; JIT code never is. */
static void object_key(const struct prf_object *o, size_t trace, struct buffer *key)
{
	bool own = o->kind == PRF_OBJECT_JIT || o->kind == PRF_OBJECT_ANONYMOUS;

	buffer_clear(key);
	buffer_u32(key, o->kind);
	buffer_u32(key, own ? (uint32_t)trace : 0);
	buffer_u64(key, o->base);
	buffer_u64(key, o->build_id_size ? 0 : o->inode);
	buffer_u8(key, o->build_id_size);
	buffer_append(key, o->build_id, o->build_id_size);
	buffer_append(key, o->path, strlen(o->path) + 1);
	buffer_append(key, o->root, strlen(o->root) + 1);
}

static int number_objects_of(struct built *b, size_t trace)
{
	const struct prf_reader *r = b->options.traces[trace].reader;
	size_t n = prf_reader_objects(r);
	struct buffer key = { 0 };
	int error = -ENOMEM;

	b->objects[trace] = calloc(n + 1, sizeof(**b->objects));
	if (!b->objects[trace])
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct prf_object *o = prf_reader_object(r, i);
		uint64_t *id;
		bool added;

		object_key(o, trace, &key);
		id = buffer_ok(&key) ? map_put(&b->object_ids, key.data, key.size, &added) : NULL;
		if (!id)
			goto out;
		if (added) {
			*id = b->object_count;
			b->object_list[b->object_count].recorded = o;
			b->object_list[b->object_count].name = object_short_name(o);
			b->object_symbolizer[b->object_count++] =
				b->options.traces[trace].objects[i];
		}
		b->objects[trace][i] = (uint32_t)*id;
	}
	error = 0;
out:
	buffer_release(&key);
	return error;
}

static int number_objects(struct built *b)
{
	size_t n = 0;
	int error = 0;

	for (size_t i = 0; i < b->options.trace_count; i++)
		n += prf_reader_objects(b->options.traces[i].reader);
	b->objects = calloc(b->options.trace_count, sizeof(*b->objects));
	b->object_list = calloc(n + 1, sizeof(*b->object_list));
	b->object_symbolizer = calloc(n + 1, sizeof(*b->object_symbolizer));
	if (!b->objects || !b->object_list || !b->object_symbolizer)
		return -ENOMEM;
	for (size_t i = 0; !error && i < b->options.trace_count; i++)
		error = number_objects_of(b, i);
	return error;
}

/* -------- names -------- */

static int ask_for_trace(struct built *b, size_t trace)
{
	const struct trace *t = &b->options.traces[trace];
	const struct prf_frame *frames = prf_reader_all_frames(t->reader);
	struct expansion *expansions = b->expansions[trace];
	size_t n = prf_reader_frames(t->reader);
	int error = 0;

	for (size_t i = 0; !error && i < n; i++) {
		if (!expansions[i].count)
			continue;
		expansions[i].query = PRF_NONE;
		if (frames[i].object == PRF_NONE || (frames[i].flags & PRF_FRAME_END))
			continue;
		error = symbolizer_add_query(b->options.symbolizer, t->objects[frames[i].object],
					     frames[i].offset, frames[i].flags & PRF_FRAME_EXACT,
					     &expansions[i].query);
	}
	for (size_t i = 0; !error && i < t->name_count; i++) {
		const struct trace_names *names = &t->names[i];

		if (names->frame < n && expansions[names->frame].count &&
		    expansions[names->frame].query != PRF_NONE)
			error = symbolizer_add_names(b->options.symbolizer,
						     expansions[names->frame].query,
						     t->places + names->first, names->count);
	}
	return error;
}

static bool expand_with(struct built *b, struct expansion *expansion,
			const struct profile_frame *frame, uint64_t offset)
{
	uint32_t id = frame_table_add(&b->frames, frame);
	uint64_t *lowest = id == PRF_NONE ? NULL : &b->frames.frames[id].offset;

	if (lowest && (b->options.detail & PROFILE_LOWEST_ADDRESS) &&
	    (!*lowest || offset < *lowest))
		*lowest = offset;
	if (id == PRF_NONE ||
	    !array_reserve(&b->expanded, &b->expanded_capacity, b->expanded_count + 1))
		return false;
	b->expanded[b->expanded_count++] = id;
	expansion->count++;
	return true;
}

static bool expand_frame(struct built *b, size_t trace, const struct prf_frame *recorded,
			 struct expansion *expansion, struct buffer *room)
{
	const struct prf_object *object = NULL;
	const struct symbolizer_place *places = NULL;
	struct profile_frame frame = { .object = PRF_NONE, .linkage_name = "", .file = "" };
	bool exactly = b->options.detail & PROFILE_BY_ADDRESS;
	size_t n = 0;

	expansion->first = (uint32_t)b->expanded_count;
	expansion->count = 0;
	if (recorded->object != PRF_NONE && !(recorded->flags & PRF_FRAME_END)) {
		object = prf_reader_object(b->options.traces[trace].reader, recorded->object);
		frame.object = b->objects[trace][recorded->object];
	}
	frame.kind = (uint8_t)frame_kind_of(recorded, object);
	frame.guessed = exactly && (recorded->flags & PRF_FRAME_GUESSED);
	if (expansion->query != PRF_NONE)
		places = symbolizer_places(b->options.symbolizer, expansion->query, &n);
	for (size_t i = 0; i < n; i++) {
		struct profile_frame one = frame;

		one.inlined = i + 1 < n;
		/* "[libfoo.so.1+0x1234]" tells functions apart, but names none. */
		one.named = places[i].name[0] && places[i].name[0] != '[';
		one.name = places[i].name[0] ? places[i].name
					     : frame_placeholder(recorded, object, room);
		one.linkage_name = places[i].function;
		one.offset = exactly || (!one.named && (b->options.detail & PROFILE_BY_UNNAMED))
				     ? recorded->offset
				     : 0;
		one.start_line = places[i].start_line;
		if (b->options.detail & (PROFILE_BY_LINE | PROFILE_BY_FILE))
			one.file = places[i].file;
		if (b->options.detail & PROFILE_BY_LINE)
			one.line = places[i].line;
		else if (b->options.detail & PROFILE_BY_FILE && !one.start_line)
			one.start_line = places[i].line;
		if (!expand_with(b, expansion, &one, recorded->offset))
			return false;
	}
	if (n)
		return true;
	frame.name = frame_placeholder(recorded, object, room);
	if (!frame.name)
		return true;
	if (frame.kind != PROFILE_FRAME_END &&
	    (b->options.detail & (PROFILE_BY_ADDRESS | PROFILE_BY_UNNAMED)))
		frame.offset = recorded->offset;
	return expand_with(b, expansion, &frame, recorded->offset);
}

static int name_frames(struct built *b)
{
	struct buffer room = { 0 };
	int error = 0;

	for (size_t i = 0; !error && i < b->options.trace_count; i++)
		error = ask_for_trace(b, i);
	if (!error)
		error = symbolizer_run(b->options.symbolizer);
	for (size_t i = 0; !error && i < b->options.trace_count; i++) {
		const struct prf_reader *r = b->options.traces[i].reader;
		const struct prf_frame *frames = prf_reader_all_frames(r);

		for (size_t f = 0; !error && f < prf_reader_frames(r); f++)
			if (b->expansions[i][f].count &&
			    !expand_frame(b, i, &frames[f], &b->expansions[i][f], &room))
				error = -ENOMEM;
	}
	buffer_release(&room);
	for (size_t i = 0; !error && i < b->object_count; i++) {
		struct symbols_found found;

		symbolizer_found(b->options.symbolizer, b->object_symbolizer[i], &found);
		b->object_list[i].symbols = symbols_status_text(found.status);
	}
	return error;
}

/* -------- stacks -------- */

static uint8_t match_of(struct built *b, uint32_t frame)
{
	/* Frames that came after the others were matched are separators and wakers' frames. */
	return frame < b->matches_count ? b->matches[frame] : 0;
}

static int match_frames(struct built *b)
{
	b->matches = calloc(b->frames.count + 1, 1);
	if (!b->matches)
		return -ENOMEM;
	b->matches_count = b->frames.count;
	for (size_t i = 0; i < b->frames.count; i++)
		b->matches[i] = shape_match(b->options.shape, &b->frames.frames[i]);
	return 0;
}

static uint32_t separator(struct built *b, uint32_t *id, const char *name)
{
	struct profile_frame frame = { .name = name,
				       .linkage_name = "",
				       .file = "",
				       .object = PRF_NONE,
				       .kind = PROFILE_FRAME_SEPARATOR };

	if (*id == PRF_NONE)
		*id = frame_table_add(&b->frames, &frame);
	return *id;
}

static bool same_function(const struct profile_frame *a, const struct profile_frame *b)
{
	return a->name == b->name && a->object == b->object && a->kind == b->kind;
}

/* Puts a frame on top of the stack; false without memory. */
static bool push_frame(struct built *b, struct shape_state *state, uint32_t frame)
{
	const struct shape *shape = b->options.shape;
	const struct profile_frame *top = NULL, *next = &b->frames.frames[frame];
	uint32_t depth = 0;

	if (state->node != PRF_NONE) {
		depth = b->tree.nodes[state->node].depth;
		top = &b->frames.frames[b->tree.nodes[state->node].frame];
	}
	if (!shape_takes(shape, state, next, match_of(b, frame), depth))
		return true;
	if (top && shape->collapse_recursion && same_function(top, next)) {
		/* The inner call's frame stands for both, so that lines and addresses are its own.
		 */
		return true;
	}
	if (top && shape->delimiter && next->kind == PROFILE_FRAME_KERNEL &&
	    (top->kind == PROFILE_FRAME_USER || top->kind == PROFILE_FRAME_JIT)) {
		uint32_t dash = separator(b, &b->delimiter, "-");

		state->node = dash == PRF_NONE ? PRF_NONE
					       : node_tree_add(&b->tree, state->node, dash);
		if (state->node == PRF_NONE)
			return false;
	}
	state->node = node_tree_add(&b->tree, state->node, frame);
	return state->node != PRF_NONE;
}

static int build_stacks_of(struct built *b, size_t trace)
{
	const struct trace *t = &b->options.traces[trace];
	const struct prf_stack *stacks = prf_reader_all_stacks(t->reader);
	struct shape_state *states = b->states + t->stack_base;

	for (size_t s = 0; s < prf_reader_stacks(t->reader); s++) {
		struct shape_state state = { .node = PRF_NONE };
		const struct expansion *e;

		states[s] = state;
		if (!b->used_stacks[trace][s])
			continue;
		if (stacks[s].parent != PRF_NONE)
			state = states[stacks[s].parent];
		if (stacks[s].frame != PRF_NONE) {
			e = &b->expansions[trace][stacks[s].frame];
			for (uint32_t i = e->count; i-- > 0;)
				if (!push_frame(b, &state, b->expanded[e->first + i]))
					return -ENOMEM;
		}
		states[s] = state;
	}
	return 0;
}

static int build_stacks(struct built *b)
{
	int error = 0;

	b->states = malloc((b->stack_count + 1) * sizeof(*b->states));
	if (!b->states)
		return -ENOMEM;
	for (size_t i = 0; !error && i < b->options.trace_count; i++)
		error = build_stacks_of(b, i);
	return error;
}

/* The node of a wait's stack with its waker's on top, leaf first; PRF_NONE without memory. */
static uint32_t add_waker_stack(struct built *b, uint32_t node, uint32_t trace, uint32_t waker)
{
	const struct trace *t = &b->options.traces[trace];
	const struct prf_stack *stacks = prf_reader_all_stacks(t->reader);
	uint32_t frame = separator(b, &b->wake_delimiter, "--");

	if (frame == PRF_NONE)
		return PRF_NONE;
	node = node_tree_add(&b->tree, node, frame);
	for (uint32_t s = waker - t->stack_base;
	     s != PRF_NONE && node != PRF_NONE && b->tree.nodes[node].depth < 2 * SHAPE_DEPTH_MAX;
	     s = stacks[s].parent) {
		const struct expansion *e;

		if (stacks[s].frame == PRF_NONE)
			continue;
		e = &b->expansions[trace][stacks[s].frame];
		for (uint32_t i = 0; i < e->count && node != PRF_NONE; i++) {
			struct profile_frame copy = b->frames.frames[b->expanded[e->first + i]];

			copy.waker = true;
			frame = frame_table_add(&b->frames, &copy);
			node = frame == PRF_NONE ? PRF_NONE : node_tree_add(&b->tree, node, frame);
		}
	}
	return node;
}

/* And, where it is known, who that was. */
static uint32_t add_waker(struct built *b, uint32_t node, uint32_t number)
{
	struct tally_waker waker = tally_waker(b->options.tally, number);
	uint32_t trace = trace_of_stack(b, waker.stack), frame;
	struct profile_frame comm = {
		.linkage_name = "",
		.file = "",
		.object = PRF_NONE,
		.kind = PROFILE_FRAME_USER,
		.waker = true,
		.named = true,
	};

	node = add_waker_stack(b, node, trace, waker.stack);
	if (node == PRF_NONE || waker.task == PRF_NONE)
		return node;
	comm.name = prf_reader_task(b->options.traces[trace].reader, waker.task)->comm;
	frame = frame_table_add(&b->frames, &comm);
	return frame == PRF_NONE ? PRF_NONE : node_tree_add(&b->tree, node, frame);
}

uint32_t profile_node_of(const struct profile *p, uint32_t global_stack, bool *kept)
{
	const struct built *b = built_of(p);
	const struct shape_state none = { .node = PRF_NONE };
	const struct shape_state *state = &none;

	if (global_stack < b->stack_count)
		state = &b->states[global_stack];
	*kept = shape_keeps(b->options.shape, state);
	return regrouped_node(&b->regrouped, state->node);
}

/* -------- entries -------- */

/* What samples of an event count for, before units: ns for times. */
static struct slices_worth worth(const struct built *b, const struct profile_event *e)
{
	switch (b->options.value) {
	case PROFILE_TIME:
		return (struct slices_worth){ e->ns_per_sample,
					      !e->ns_per_sample && !strcmp(e->unit, "ns") };
	case PROFILE_WEIGHT: return (struct slices_worth){ 0, 1 };
	default: return (struct slices_worth){ 1, 0 };
	}
}

static int add_cell(struct built *b, uint32_t number, const struct tally_cell *cell)
{
	const struct shape_state none = { .node = PRF_NONE };
	const struct shape_state *state = cell->stack == PRF_NONE ? &none : &b->states[cell->stack];
	const struct slices_worth *one = &b->worths[cell->group];
	uint32_t node = state->node;

	if (!shape_keeps(b->options.shape, state))
		return 0;
	if (cell->waker != PRF_NONE) {
		node = add_waker(b, node, cell->waker);
		if (node == PRF_NONE)
			return -ENOMEM;
	}
	return regroup_add(&b->regrouped, &(struct profile_entry){
						  .group = cell->group,
						  .slice = number,
						  .node = node,
						  .samples = cell->samples,
						  .value = cell->samples * one->of_sample +
							   cell->weight * one->of_weight,
					  });
}

static int make_entries(struct built *b)
{
	size_t n, group_count;
	const struct tally_cell *cells = tally_cells(b->options.tally, &n);
	const struct tally_group *groups = tally_groups(b->options.tally, &group_count);
	struct regroup regroup = { .dimensions = b->options.dimensions,
				   .min_percent = b->options.min_percent,
				   .divide_by = b->options.value == PROFILE_TIME ? 1000 : 1,
				   .tally = b->options.tally };
	int error = regroup_groups(&b->regrouped, &regroup, groups, group_count, b->options.traces);

	b->worths = calloc(group_count + 1, sizeof(*b->worths));
	if (!b->worths)
		return -ENOMEM;
	regroup.worths = b->worths;
	for (size_t i = 0; i < group_count; i++)
		b->worths[i] = worth(b, &b->profile.events[groups[i].event]);
	for (size_t i = 0; !error && i < n; i++)
		error = add_cell(b, (uint32_t)i, &cells[i]);
	return error ? error
		     : regroup_finish(&b->regrouped, &regroup, &b->tree, &b->frames, &b->profile);
}

/* -------- all of it -------- */

static const char *unit_of(const struct built *b)
{
	size_t n;
	const struct tally_group *groups = tally_groups(b->options.tally, &n);

	switch (b->options.value) {
	case PROFILE_TIME: return "us";
	case PROFILE_WEIGHT: return n ? b->profile.events[groups[0].event].unit : "events";
	default: return "samples";
	}
}

int profile_build(struct profile **profile, const struct build_options *options)
{
	struct built *b = calloc(1, sizeof(*b));
	int error;

	if (!b)
		return -ENOMEM;
	b->options = *options;
	b->delimiter = b->wake_delimiter = PRF_NONE;
	error = mark_used(b);
	if (!error)
		error = number_objects(b);
	if (!error)
		error = name_frames(b);
	if (!error)
		error = match_frames(b);
	if (!error)
		error = build_stacks(b);
	if (!error)
		error = describe(&b->described, &b->profile, options->tally, options->traces,
				 options->trace_count);
	if (!error)
		error = make_entries(b);
	if (error) {
		profile_free(&b->profile);
		return error;
	}
	b->profile.objects = b->object_list;
	b->profile.object_count = b->object_count;
	b->profile.dimensions = options->dimensions;
	b->profile.detail = options->detail;
	b->profile.value = options->value;
	b->profile.unit = unit_of(b);
	b->profile.slice_ns = tally_slices(options->tally)->length_ns;
	if (options->leading)
		error = label_frames_add(&b->leading, &b->profile, b->regrouped.entries,
					 options->leading);
	if (error) {
		profile_free(&b->profile);
		return error;
	}
	*profile = &b->profile;
	return 0;
}
