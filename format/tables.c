/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/tables.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "format/column.h"

static const struct prf_event lost_event = { .kind = PRF_EVENT_COUNT,
					     .name = "[lost]",
					     .unit = "" };
static const struct prf_object lost_object = { .kind = PRF_OBJECT_UNKNOWN,
					       .path = "[lost]",
					       .root = "" };
static const struct prf_task lost_task = { .comm = "[lost]", .cgroup = "", .command_line = "" };

void tables_init(struct tables *t)
{
	*t = (struct tables){ .lost_object = PRF_NONE,
			      .lost_frame = PRF_NONE,
			      .extra_object = PRF_NONE,
			      .extra_frame = PRF_NONE };
}

void tables_release(struct tables *t)
{
	free(t->events);
	free(t->objects);
	free(t->tasks);
	free(t->frames);
	free(t->stacks);
	arena_release(&t->arena);
}

/* Makes the array `what` of the tables `t` hold `more` further entries. */
#define GROW(t, what, more)                                                                        \
	array_reserve(&(t)->what##s, &(t)->what##_room, (t)->what##_count + (more))

/* How many placeholders bring `have` to `count`: checked against the limits. */
static struct error *missing(struct tables *t, uint64_t have, uint64_t count, uint64_t max,
			     uint64_t *more)
{
	*more = 0;
	if (count > max) {
		return error_new(ERROR_CORRUPT, "more definitions than the format allows");
	}
	if (count <= have)
		return NULL;
	if (count - have > t->lost_allowed - t->lost) {
		return error_new(ERROR_CORRUPT,
				 "more definitions missing than the trace could have had");
	}
	*more = count - have;
	t->lost += *more;
	return NULL;
}

static uint64_t own_objects(const struct tables *t)
{
	return t->object_count - (t->extra_object != PRF_NONE);
}

static uint64_t own_frames(const struct tables *t)
{
	return t->frame_count - (t->extra_frame != PRF_NONE);
}

struct error *tables_expect_events(struct tables *t, uint64_t count)
{
	uint64_t more;
	struct error *error = missing(t, t->event_count, count, WIRE_EVENTS_MAX, &more);

	if (error || !more)
		return error;
	if (!GROW(t, event, more))
		return error_memory();
	while (more--)
		t->events[t->event_count++] = &lost_event;
	return NULL;
}

struct error *tables_expect_objects(struct tables *t, uint64_t count)
{
	uint64_t more;
	struct error *error = missing(t, own_objects(t), count, WIRE_OBJECTS_MAX, &more);

	if (error || !more)
		return error;
	if (!GROW(t, object, more))
		return error_memory();
	if (t->lost_object == PRF_NONE)
		t->lost_object = (uint32_t)t->object_count;
	while (more--)
		t->objects[t->object_count++] = &lost_object;
	return NULL;
}

struct error *tables_expect_tasks(struct tables *t, uint64_t count)
{
	uint64_t more;
	struct error *error = missing(t, t->task_count, count, WIRE_TASKS_MAX, &more);

	if (error || !more)
		return error;
	if (!GROW(t, task, more))
		return error_memory();
	while (more--)
		t->tasks[t->task_count++] = &lost_task;
	return NULL;
}

/* The "[lost]" object's id in `id`, made when there is none; false without memory. */
static bool find_lost_object(struct tables *t, uint32_t *id)
{
	if (t->lost_object == PRF_NONE) {
		if (!GROW(t, object, 1))
			return false;
		t->lost_object = t->extra_object = (uint32_t)t->object_count;
		t->objects[t->object_count++] = &lost_object;
	}
	*id = t->lost_object;
	return true;
}

struct error *tables_expect_frames(struct tables *t, uint64_t count)
{
	uint64_t more;
	uint32_t object;
	struct error *error = missing(t, own_frames(t), count, WIRE_FRAMES_MAX, &more);

	if (error || !more)
		return error;
	if (!find_lost_object(t, &object) || !GROW(t, frame, more))
		return error_memory();
	if (t->lost_frame == PRF_NONE)
		t->lost_frame = (uint32_t)t->frame_count;
	while (more--)
		t->frames[t->frame_count++] = (struct prf_frame){ .object = object };
	return NULL;
}

static bool find_lost_frame(struct tables *t, uint32_t *id)
{
	uint32_t object;

	if (t->lost_frame == PRF_NONE) {
		if (!find_lost_object(t, &object) || !GROW(t, frame, 1))
			return false;
		t->lost_frame = t->extra_frame = (uint32_t)t->frame_count;
		t->frames[t->frame_count++] = (struct prf_frame){ .object = object };
	}
	*id = t->lost_frame;
	return true;
}

struct error *tables_expect_stacks(struct tables *t, uint64_t count)
{
	uint64_t more;
	uint32_t frame;
	struct error *error = missing(t, t->stack_count, count, WIRE_STACKS_MAX, &more);

	if (error || !more)
		return error;
	if (!find_lost_frame(t, &frame) || !GROW(t, stack, more))
		return error_memory();
	while (more--)
		t->stacks[t->stack_count++] = (struct prf_stack){ PRF_NONE, frame };
	return NULL;
}

/* -------- definitions with text: one record each -------- */

/* The text at the cursor, copied; "" when there is none. */
static const char *text_decode(struct cursor *c, struct tables *t)
{
	const char *text = cursor_string(c), *copy;

	if (!text || !*text)
		return "";
	copy = arena_text(&t->arena, text, strlen(text));
	if (!copy)
		t->no_memory = true;
	return copy ? copy : "";
}

static void *zeroed(struct tables *t, size_t size)
{
	void *at = arena_take(&t->arena, size);

	return at ? memset(at, 0, size) : NULL;
}

static uint32_t u32_decode(struct cursor *c)
{
	uint64_t value = cursor_uleb(c);

	if (value > UINT32_MAX)
		cursor_fail(c);
	return (uint32_t)value;
}

static bool event_decode(struct cursor *c, struct tables *t)
{
	struct prf_event *e = zeroed(t, sizeof(*e));
	uint64_t kind = cursor_uleb(c);

	if (!e || !GROW(t, event, 1))
		return false;
	e->kind = kind <= PRF_EVENT_COUNT ? (enum prf_event_kind)kind : PRF_EVENT_COUNT;
	e->name = text_decode(c, t);
	e->unit = text_decode(c, t);
	e->frequency = cursor_uleb(c);
	e->period = cursor_uleb(c);
	t->events[t->event_count++] = e;
	return true;
}

static bool object_decode(struct cursor *c, struct tables *t)
{
	struct prf_object *o = zeroed(t, sizeof(*o));
	uint64_t kind = cursor_uleb(c), flags = cursor_uleb(c), size;
	const uint8_t *build_id;

	if (!o || !GROW(t, object, 1))
		return false;
	o->kind = kind <= PRF_OBJECT_UNKNOWN ? (enum prf_object_kind)kind : PRF_OBJECT_UNKNOWN;
	o->deleted = flags & 1;
	o->path = text_decode(c, t);
	o->root = text_decode(c, t);
	size = cursor_uleb(c);
	if (size > PRF_BUILD_ID_MAX)
		cursor_fail(c);
	build_id = cursor_bytes(c, size);
	if (build_id && size) {
		memcpy(o->build_id, build_id, size);
		o->build_id_size = (uint8_t)size;
	}
	o->base = cursor_uleb(c);
	o->device = cursor_uleb(c);
	o->inode = cursor_uleb(c);
	o->size = cursor_uleb(c);
	o->mtime_ns = cursor_uleb(c);
	t->objects[t->object_count++] = o;
	return true;
}

static bool task_decode(struct cursor *c, struct tables *t)
{
	struct prf_task *task = zeroed(t, sizeof(*task));

	if (!task || !GROW(t, task, 1))
		return false;
	task->pid = u32_decode(c);
	task->tid = u32_decode(c);
	task->inner_pid = u32_decode(c);
	task->inner_tid = u32_decode(c);
	task->parent_pid = u32_decode(c);
	task->start_ns = cursor_uleb(c);
	task->comm = text_decode(c, t);
	task->cgroup = text_decode(c, t);
	task->command_line = text_decode(c, t);
	t->tasks[t->task_count++] = task;
	return true;
}

struct text_table {
	size_t *count;
	uint64_t extra, max;
	struct error *(*expect)(struct tables *t, uint64_t count);
	bool (*decode)(struct cursor *c, struct tables *t); /* false: no memory */
};

static struct error *records_decode(struct tables *t, const struct text_table *table,
				    struct cursor *c)
{
	uint64_t first = cursor_uleb(c);
	size_t before;
	struct error *error;

	if (!cursor_ok(c))
		return error_new(ERROR_CORRUPT, "a definition is broken");
	if (first < *table->count - table->extra) {
		return error_new(ERROR_CORRUPT, "definitions out of order");
	}
	error = table->expect(t, first);
	if (error)
		return error;
	before = *table->count;
	while (cursor_left(c)) {
		uint64_t size = cursor_uleb(c);
		const uint8_t *bytes = cursor_bytes(c, size);
		struct cursor record = cursor_over(bytes, bytes ? size : 0);

		if (*table->count - table->extra >= table->max)
			cursor_fail(c);
		if (cursor_ok(c) && (!table->decode(&record, t) || t->no_memory))
			return error_memory();
		if (!cursor_ok(c) || !cursor_ok(&record)) {
			*table->count = before;
			return error_new(ERROR_CORRUPT, "a definition is broken");
		}
	}
	return NULL;
}

struct error *events_decode(struct tables *t, struct cursor *c)
{
	struct text_table table = { &t->event_count, 0, WIRE_EVENTS_MAX, tables_expect_events,
				    event_decode };

	return records_decode(t, &table, c);
}

struct error *objects_decode(struct tables *t, struct cursor *c)
{
	struct text_table table = { &t->object_count, t->extra_object != PRF_NONE, WIRE_OBJECTS_MAX,
				    tables_expect_objects, object_decode };

	return records_decode(t, &table, c);
}

struct error *tasks_decode(struct tables *t, struct cursor *c)
{
	struct text_table table = { &t->task_count, 0, WIRE_TASKS_MAX, tables_expect_tasks,
				    task_decode };

	return records_decode(t, &table, c);
}

/* -------- definitions in columns -------- */

/* The head of a block of columns: how many of `what` they name, their first id and number. */
static struct error *head_decode(struct cursor *c, uint64_t have, uint64_t max, uint64_t *referred,
				 uint64_t *first, uint64_t *n)
{
	*referred = cursor_uleb(c);
	*first = cursor_uleb(c);
	*n = cursor_uleb(c);
	if (!cursor_ok(c) || *n > cursor_left(c))
		return error_new(ERROR_CORRUPT, "a definition is broken");
	if (*first > max || *n > max - *first) {
		return error_new(ERROR_CORRUPT, "more definitions than the format allows");
	}
	if (*first < have) {
		return error_new(ERROR_CORRUPT, "definitions out of order");
	}
	return NULL;
}

static bool frame_check(struct tables *t, struct prf_frame *f, uint64_t object, uint64_t objects)
{
	if (f->flags & PRF_FRAME_END) {
		f->object = PRF_NONE;
		if (f->offset > PRF_END_COUNT)
			f->offset = PRF_END_COUNT;
		return object == 0;
	}
	if (object == 0 || object > objects)
		return false;
	f->object = tables_object(t, object - 1);
	return true;
}

#define SLICE 512

struct error *frames_decode(struct tables *t, struct cursor *c)
{
	uint64_t objects, first, n, object[SLICE], flags[SLICE], offset[SLICE];
	struct column column[3];
	size_t before;
	struct error *error = head_decode(c, own_frames(t), WIRE_FRAMES_MAX, &objects, &first, &n);

	if (error)
		return error;
	column_decode(c, n, false, &column[0]);
	column_decode(c, n, false, &column[1]);
	column_decode(c, n, true, &column[2]);
	if (!cursor_ok(c))
		return error_new(ERROR_CORRUPT, "a definition is broken");
	error = tables_expect_objects(t, objects);
	if (!error)
		error = tables_expect_frames(t, first);
	if (error)
		return error;
	if (!GROW(t, frame, n))
		return error_memory();
	before = t->frame_count;
	for (size_t from = 0; from < n; from += SLICE) {
		size_t some = n - from < SLICE ? n - from : SLICE;

		column_read(&column[0], from, some, object);
		column_read(&column[1], from, some, flags);
		column_read(&column[2], from, some, offset);
		for (size_t i = 0; i < some; i++) {
			struct prf_frame *f = &t->frames[before + from + i];

			*f = (struct prf_frame){ .flags = (uint32_t)flags[i], .offset = offset[i] };
			if (!frame_check(t, f, object[i], objects)) {
				return error_new(ERROR_CORRUPT,
						 "a frame names an object that does not exist");
			}
		}
	}
	t->frame_count = before + n;
	return NULL;
}

struct error *stacks_decode(struct tables *t, struct cursor *c)
{
	uint64_t frames, first, n, back[SLICE], frame[SLICE];
	struct column column[2];
	size_t before;
	struct error *error = head_decode(c, t->stack_count, WIRE_STACKS_MAX, &frames, &first, &n);

	if (error)
		return error;
	column_decode(c, n, false, &column[0]);
	column_decode(c, n, true, &column[1]);
	if (!cursor_ok(c))
		return error_new(ERROR_CORRUPT, "a definition is broken");
	error = tables_expect_frames(t, frames);
	if (!error)
		error = tables_expect_stacks(t, first);
	if (error)
		return error;
	if (!GROW(t, stack, n))
		return error_memory();
	before = t->stack_count;
	for (size_t from = 0; from < n; from += SLICE) {
		size_t some = n - from < SLICE ? n - from : SLICE;

		column_read(&column[0], from, some, back);
		column_read(&column[1], from, some, frame);
		for (size_t i = 0; i < some; i++) {
			uint64_t id = before + from + i;

			if (back[i] > id || frame[i] >= frames) {
				return error_new(
					ERROR_CORRUPT,
					"a stack names a frame or parent that does not exist");
			}
			t->stacks[id].parent = back[i] ? (uint32_t)(id - back[i]) : PRF_NONE;
			t->stacks[id].frame = tables_frame(t, frame[i]);
		}
	}
	t->stack_count = before + n;
	return NULL;
}
