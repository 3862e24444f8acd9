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

#define COLUMNS_MAX 3

/* The head as it is read. */
struct head {
	uint64_t defined; /* of what they name */
	uint64_t first_id, n;
};

/* Some of the definitions of a payload, from the `from`th on: each column's values. */
struct slice {
	size_t from, n;
	uint64_t values[COLUMNS_MAX][SLICE];
};

/* One of the two kinds of definitions that are columns, of which the last one is dense. */
struct kind {
	const char *name;
	uint64_t have, max; /* how many are defined already, and may be */
	size_t columns;
	struct error *(*expect_named)(struct tables *t, uint64_t count); /* those that they name */
	struct error *(*expect)(struct tables *t, uint64_t count);
	bool (*reserve)(struct tables *t, size_t n);
	/* Puts a slice where it belongs in the table. */
	struct error *(*take)(const struct tables *t, const struct head *head,
			      const struct slice *slice);
};

static struct error *head_decode(struct head *head, const struct kind *kind, struct cursor *c)
{
	head->defined = cursor_uleb(c);
	head->first_id = cursor_uleb(c);
	head->n = cursor_uleb(c);
	if (!cursor_ok(c))
		return error_new(ERROR_CORRUPT, "the head of a block of %s is cut short",
				 kind->name);
	if (head->n > cursor_left(c))
		return error_new(ERROR_CORRUPT, "%" PRIu64 " %s in %zu bytes", head->n, kind->name,
				 cursor_left(c));
	if (head->first_id > kind->max || head->n > kind->max - head->first_id)
		return error_new(ERROR_CORRUPT,
				 "%" PRIu64 " %s from id %" PRIu64 " on, but the limit is %" PRIu64,
				 head->n, kind->name, head->first_id, kind->max);
	if (head->first_id < kind->have)
		return error_new(ERROR_CORRUPT,
				 "%s begin with id %" PRIu64 ", but %" PRIu64 " are defined",
				 kind->name, head->first_id, kind->have);
	return NULL;
}

/* The whole payload; it counts once *count, the table's, was raised. */
static struct error *payload_decode(struct tables *t, const struct kind *kind, struct cursor *c,
				    size_t *count)
{
	struct column columns[COLUMNS_MAX];
	struct slice slice;
	struct head head;
	struct error *error = head_decode(&head, kind, c);

	if (error)
		return error;
	for (size_t i = 0; i < kind->columns; i++)
		column_decode(c, head.n, i == kind->columns - 1, &columns[i]);
	if (!cursor_ok(c))
		return error_new(ERROR_CORRUPT, "a column of %" PRIu64 " %s is broken", head.n,
				 kind->name);
	error = kind->expect_named(t, head.defined);
	if (!error)
		error = kind->expect(t, head.first_id);
	if (!error && !kind->reserve(t, head.n))
		error = error_memory();
	for (slice.from = 0; slice.from < head.n && !error; slice.from += SLICE) {
		slice.n = head.n - slice.from < SLICE ? head.n - slice.from : SLICE;
		for (size_t i = 0; i < kind->columns; i++)
			column_read(&columns[i], slice.from, slice.n, slice.values[i]);
		error = kind->take(t, &head, &slice);
	}
	if (!error)
		*count += head.n;
	return error;
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

static struct error *frames_take(const struct tables *t, const struct head *head,
				 const struct slice *slice)
{
	const uint64_t *object = slice->values[0], *flags = slice->values[1],
		       *offset = slice->values[2];
	struct prf_frame *frames = &t->frames[t->frame_count + slice->from];

	for (size_t i = 0; i < slice->n; i++) {
		struct error *error;

		frames[i] = (struct prf_frame){ .flags = (uint32_t)flags[i], .offset = offset[i] };
		error = frame_take(t, &frames[i], object[i], head->defined);
		if (error)
			return error_prefix(error, "frame %" PRIu64,
					    head->first_id + slice->from + i);
	}
	return NULL;
}

struct error *frames_decode(struct tables *t, struct cursor *c)
{
	const struct kind kind = {
		"frames",
		tables_own_frames(t),
		WIRE_FRAMES_MAX,
		3,
		tables_expect_objects,
		tables_expect_frames,
		tables_reserve_frames,
		frames_take,
	};

	return payload_decode(t, &kind, c, &t->frame_count);
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

/* The first column is the stack's own id minus that of its parent; 0: no parent. */
static struct error *stacks_take(const struct tables *t, const struct head *head,
				 const struct slice *slice)
{
	const uint64_t *back = slice->values[0], *frame = slice->values[1];
	struct prf_stack *stacks = &t->stacks[t->stack_count + slice->from];

	for (size_t i = 0; i < slice->n; i++) {
		uint64_t id = head->first_id + slice->from + i;

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
	const struct kind kind = {
		"stacks",
		t->stack_count,
		WIRE_STACKS_MAX,
		2,
		tables_expect_frames,
		tables_expect_stacks,
		tables_reserve_stacks,
		stacks_take,
	};

	return payload_decode(t, &kind, c, &t->stack_count);
}
