/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/stacks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "format/column.h"

#define SLICE 512 /* values that are decoded at a time */

/* -------- the head of both -------- */

/* Room for a column's values, after the head was written; NULL without memory. */
static uint64_t *begin(struct payload *payload, const struct definition_range *range)
{
	uint64_t *values = malloc(range->n * sizeof(*values));

	if (!values)
		payload->raw.failed = true;
	buffer_uleb(&payload->raw, range->defined);
	buffer_uleb(&payload->raw, range->first_id);
	buffer_uleb(&payload->raw, range->n);
	return values;
}

/* The head as it is read: not yet believed. */
struct head {
	const char *name;   /* of what is defined */
	uint64_t have, max; /* how many are defined already, and may be */
	uint64_t defined;   /* of what they name */
	uint64_t first_id, n;
};

static struct error *head_decode(struct head *head, struct cursor *c)
{
	head->defined = cursor_uleb(c);
	head->first_id = cursor_uleb(c);
	head->n = cursor_uleb(c);
	if (!cursor_ok(c))
		return error_new(ERROR_CORRUPT, "the head of a block of %s is cut short",
				 head->name);
	if (head->n > cursor_left(c))
		return error_new(ERROR_CORRUPT, "%" PRIu64 " %s in %zu bytes", head->n, head->name,
				 cursor_left(c));
	if (head->first_id > head->max || head->n > head->max - head->first_id)
		return error_new(ERROR_CORRUPT,
				 "%" PRIu64 " %s from id %" PRIu64 " on, but the limit is %" PRIu64,
				 head->n, head->name, head->first_id, head->max);
	if (head->first_id < head->have)
		return error_new(ERROR_CORRUPT,
				 "%s begin with id %" PRIu64 ", but %" PRIu64 " are defined",
				 head->name, head->first_id, head->have);
	return NULL;
}

/* -------- frames -------- */

void frames_encode(struct payload *payload, const struct prf_frame *frames,
		   const struct definition_range *range)
{
	uint64_t *values = begin(payload, range);
	size_t n = range->n;

	if (!values)
		return;
	for (size_t i = 0; i < n; i++)
		values[i] = (uint32_t)(frames[i].object + 1); /* PRF_NONE becomes 0 */
	column_encode_min(payload, values, n, false);
	for (size_t i = 0; i < n; i++)
		values[i] = frames[i].flags;
	column_encode_min(payload, values, n, false);
	for (size_t i = 0; i < n; i++)
		values[i] = frames[i].offset;
	column_encode_min(payload, values, n, true);
	free(values);
}

struct frame_columns {
	struct column object, flags, offset;
};

/* One frame; `object` is its object's id + 1, or 0. */
static struct error *frame_take(const struct tables *t, struct prf_frame *frame, uint64_t object,
				uint64_t objects)
{
	if (frame->flags & PRF_FRAME_END) {
		frame->object = PRF_NONE;
		if (frame->offset > PRF_END_COUNT)
			frame->offset = PRF_END_COUNT;
		if (object)
			return error_new(ERROR_CORRUPT,
					 "it ends a stack, but lies in object %" PRIu64,
					 object - 1);
		return NULL;
	}
	if (!object)
		return error_new(ERROR_CORRUPT, "it has no object");
	if (object > objects)
		return error_new(ERROR_CORRUPT,
				 "its object is %" PRIu64 ", but %" PRIu64 " are defined",
				 object - 1, objects);
	frame->object = tables_object(t, object - 1);
	return NULL;
}

/* `n` frames from the `from`th of the block on, to where they belong in the table. */
static struct error *frames_take(const struct tables *t, const struct head *head,
				 const struct frame_columns *columns, size_t from, size_t n)
{
	uint64_t object[SLICE], flags[SLICE], offset[SLICE];
	struct prf_frame *frames = &t->frames[t->frame_count + from];

	column_read(&columns->object, from, n, object);
	column_read(&columns->flags, from, n, flags);
	column_read(&columns->offset, from, n, offset);
	for (size_t i = 0; i < n; i++) {
		struct error *error;

		frames[i] = (struct prf_frame){ .flags = (uint32_t)flags[i], .offset = offset[i] };
		error = frame_take(t, &frames[i], object[i], head->defined);
		if (error)
			return error_prefix(error, "frame %" PRIu64, head->first_id + from + i);
	}
	return NULL;
}

struct error *frames_decode(struct tables *t, struct cursor *c)
{
	struct head head = { "frames", tables_own_frames(t), WIRE_FRAMES_MAX };
	struct error *error = head_decode(&head, c);
	struct frame_columns columns;

	if (error)
		return error;
	column_decode(c, head.n, false, &columns.object);
	column_decode(c, head.n, false, &columns.flags);
	column_decode(c, head.n, true, &columns.offset);
	if (!cursor_ok(c))
		return error_new(ERROR_CORRUPT, "a column of %" PRIu64 " frames is broken", head.n);
	error = tables_expect_objects(t, head.defined);
	if (!error)
		error = tables_expect_frames(t, head.first_id);
	if (!error && !tables_reserve_frames(t, head.n))
		error = error_memory();
	for (size_t from = 0; from < head.n && !error; from += SLICE)
		error = frames_take(t, &head, &columns, from,
				    head.n - from < SLICE ? head.n - from : SLICE);
	if (!error)
		t->frame_count += head.n;
	return error;
}

/* -------- stacks -------- */

void stacks_encode(struct payload *payload, const struct prf_stack *stacks,
		   const struct definition_range *range)
{
	uint64_t *values = begin(payload, range);
	size_t n = range->n;

	if (!values)
		return;
	/* How far back the parent is; 0: none. */
	for (size_t i = 0; i < n; i++)
		values[i] = stacks[i].parent == PRF_NONE ? 0
							 : range->first_id + i - stacks[i].parent;
	column_encode_min(payload, values, n, false);
	for (size_t i = 0; i < n; i++)
		values[i] = stacks[i].frame;
	column_encode_min(payload, values, n, true);
	free(values);
}

struct stack_columns {
	struct column back; /* the stack's own id minus that of its parent; 0: no parent */
	struct column frame;
};

static struct error *stacks_take(const struct tables *t, const struct head *head,
				 const struct stack_columns *columns, size_t from, size_t n)
{
	uint64_t back[SLICE], frame[SLICE];
	struct prf_stack *stacks = &t->stacks[t->stack_count + from];

	column_read(&columns->back, from, n, back);
	column_read(&columns->frame, from, n, frame);
	for (size_t i = 0; i < n; i++) {
		uint64_t id = head->first_id + from + i;

		if (back[i] > id)
			return error_new(ERROR_CORRUPT,
					 "stack %" PRIu64 ": its parent is %" PRIu64 " before it",
					 id, back[i]);
		if (frame[i] >= head->defined)
			return error_new(ERROR_CORRUPT,
					 "stack %" PRIu64 ": its frame is %" PRIu64 ", but %" PRIu64
					 " are defined",
					 id, frame[i], head->defined);
		stacks[i].parent = back[i] ? (uint32_t)(id - back[i]) : PRF_NONE;
		stacks[i].frame = tables_frame(t, frame[i]);
	}
	return NULL;
}

struct error *stacks_decode(struct tables *t, struct cursor *c)
{
	struct head head = { "stacks", t->stack_count, WIRE_STACKS_MAX };
	struct error *error = head_decode(&head, c);
	struct stack_columns columns;

	if (error)
		return error;
	column_decode(c, head.n, false, &columns.back);
	column_decode(c, head.n, true, &columns.frame);
	if (!cursor_ok(c))
		return error_new(ERROR_CORRUPT, "a column of %" PRIu64 " stacks is broken", head.n);
	error = tables_expect_frames(t, head.defined);
	if (!error)
		error = tables_expect_stacks(t, head.first_id);
	if (!error && !tables_reserve_stacks(t, head.n))
		error = error_memory();
	for (size_t from = 0; from < head.n && !error; from += SLICE)
		error = stacks_take(t, &head, &columns, from,
				    head.n - from < SLICE ? head.n - from : SLICE);
	if (!error)
		t->stack_count += head.n;
	return error;
}
