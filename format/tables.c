/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

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

/* -------- definitions -------- */

static void *copy(struct tables *t, const void *definition, size_t size)
{
	void *room = arena_take(&t->arena, size);

	return room ? memcpy(room, definition, size) : NULL;
}

/* Makes *text a copy of itself that stays. */
static bool keep_text(struct tables *t, const char **text)
{
	*text = **text ? arena_text(&t->arena, *text, strlen(*text)) : "";
	return *text;
}

bool tables_add_event(struct tables *t, const struct prf_event *event)
{
	struct prf_event *kept = copy(t, event, sizeof(*event));

	if (!kept || !keep_text(t, &kept->name) || !keep_text(t, &kept->unit) || !GROW(t, event, 1))
		return false;
	t->events[t->event_count++] = kept;
	return true;
}

bool tables_add_object(struct tables *t, const struct prf_object *object)
{
	struct prf_object *kept = copy(t, object, sizeof(*object));

	if (!kept || !keep_text(t, &kept->path) || !keep_text(t, &kept->root) ||
	    !GROW(t, object, 1))
		return false;
	t->objects[t->object_count++] = kept;
	return true;
}

bool tables_add_task(struct tables *t, const struct prf_task *task)
{
	struct prf_task *kept = copy(t, task, sizeof(*task));

	if (!kept || !keep_text(t, &kept->comm) || !keep_text(t, &kept->cgroup) ||
	    !keep_text(t, &kept->command_line) || !GROW(t, task, 1))
		return false;
	t->tasks[t->task_count++] = kept;
	return true;
}

bool tables_reserve_frames(struct tables *t, size_t n)
{
	return GROW(t, frame, n);
}

bool tables_reserve_stacks(struct tables *t, size_t n)
{
	return GROW(t, stack, n);
}

/* -------- placeholders -------- */

/* One of the tables, where definitions may be missing. */
struct table {
	const char *name;
	uint64_t have, max;
};

/* How many placeholders bring the table to `count`: checked against the limits. */
static struct error *missing(struct tables *t, const struct table *table, uint64_t count,
			     uint64_t *more)
{
	*more = count > table->have ? count - table->have : 0;
	if (count > table->max)
		return error_new(ERROR_CORRUPT,
				 "%" PRIu64 " %s are said to be defined, but the limit is %" PRIu64,
				 count, table->name, table->max);
	if (*more > t->lost_allowed - t->lost)
		return error_new(ERROR_CORRUPT,
				 "%" PRIu64
				 " %s are missing, more than so short a trace could have",
				 *more, table->name);
	t->lost += *more;
	return NULL;
}

struct error *tables_expect_events(struct tables *t, uint64_t count)
{
	const struct table events = { "events", t->event_count, WIRE_EVENTS_MAX };
	uint64_t more;
	struct error *error = missing(t, &events, count, &more);

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
	const struct table objects = { "objects", tables_own_objects(t), WIRE_OBJECTS_MAX };
	uint64_t more;
	struct error *error = missing(t, &objects, count, &more);

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
	const struct table tasks = { "tasks", t->task_count, WIRE_TASKS_MAX };
	uint64_t more;
	struct error *error = missing(t, &tasks, count, &more);

	if (error || !more)
		return error;
	if (!GROW(t, task, more))
		return error_memory();
	while (more--)
		t->tasks[t->task_count++] = &lost_task;
	return NULL;
}

/*
 * The "[lost]" object's id in `id`; false without memory. A lost frame must lie in it, although no
 * object may be lost: then it is put in, which moves the ids of all later ones (extra_object).
 */
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
	const struct table frames = { "frames", tables_own_frames(t), WIRE_FRAMES_MAX };
	uint64_t more;
	uint32_t object;
	struct error *error = missing(t, &frames, count, &more);

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
	const struct table stacks = { "stacks", t->stack_count, WIRE_STACKS_MAX };
	uint64_t more;
	uint32_t frame;
	struct error *error = missing(t, &stacks, count, &more);

	if (error || !more)
		return error;
	if (!find_lost_frame(t, &frame) || !GROW(t, stack, more))
		return error_memory();
	while (more--)
		t->stacks[t->stack_count++] = (struct prf_stack){ PRF_NONE, frame };
	return NULL;
}
