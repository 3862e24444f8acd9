/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/definitions.h"

#include <inttypes.h>
#include <string.h>

#include "format/fields.h"

#define OBJECT_DELETED 1 /* flag of an object */

/* -------- events -------- */

void event_encode(struct buffer *out, const struct prf_event *event)
{
	buffer_uleb(out, event->kind);
	text_encode(out, event->name);
	text_encode(out, event->unit);
	buffer_uleb(out, event->frequency);
	buffer_uleb(out, event->period);
}

static struct error *event_decode(struct cursor *record, struct tables *t)
{
	uint64_t kind = cursor_uleb(record);
	struct prf_event event = {
		.kind = kind < PRF_EVENT_COUNT ? (enum prf_event_kind)kind : PRF_EVENT_COUNT,
	};

	event.name = cursor_string(record);
	event.unit = cursor_string(record);
	event.frequency = cursor_uleb(record);
	event.period = cursor_uleb(record);
	if (!cursor_ok(record))
		return error_new(ERROR_CORRUPT, "its record does not hold all fields");
	return tables_add_event(t, &event) ? NULL : error_memory();
}

/* -------- objects -------- */

void object_encode(struct buffer *out, const struct prf_object *object)
{
	size_t size = object->build_id_size;

	if (size > PRF_BUILD_ID_MAX)
		size = PRF_BUILD_ID_MAX;
	buffer_uleb(out, object->kind);
	buffer_uleb(out, object->deleted ? OBJECT_DELETED : 0);
	text_encode(out, object->path);
	text_encode(out, object->root);
	buffer_uleb(out, size);
	buffer_append(out, object->build_id, size);
	buffer_uleb(out, object->base);
	buffer_uleb(out, object->device);
	buffer_uleb(out, object->inode);
	buffer_uleb(out, object->size);
	buffer_uleb(out, object->mtime_ns);
}

static struct error *object_decode(struct cursor *record, struct tables *t)
{
	uint64_t kind = cursor_uleb(record), flags = cursor_uleb(record), build_id_size;
	const uint8_t *build_id;
	struct prf_object object = {
		.kind = kind <= PRF_OBJECT_SCRIPT ? (enum prf_object_kind)kind : PRF_OBJECT_UNKNOWN,
		.deleted = flags & OBJECT_DELETED,
	};

	object.path = cursor_string(record);
	object.root = cursor_string(record);
	build_id_size = cursor_uleb(record);
	if (build_id_size > PRF_BUILD_ID_MAX)
		return error_new(ERROR_CORRUPT, "its build-id has %" PRIu64 " bytes",
				 build_id_size);
	build_id = cursor_bytes(record, build_id_size);
	if (build_id && build_id_size)
		memcpy(object.build_id, build_id, build_id_size);
	object.build_id_size = (uint8_t)build_id_size;
	object.base = cursor_uleb(record);
	object.device = cursor_uleb(record);
	object.inode = cursor_uleb(record);
	object.size = cursor_uleb(record);
	object.mtime_ns = cursor_uleb(record);
	if (!cursor_ok(record))
		return error_new(ERROR_CORRUPT, "its record does not hold all fields");
	return tables_add_object(t, &object) ? NULL : error_memory();
}

/* -------- tasks -------- */

void task_encode(struct buffer *out, const struct prf_task *task)
{
	buffer_uleb(out, task->pid);
	buffer_uleb(out, task->tid);
	buffer_uleb(out, task->inner_pid);
	buffer_uleb(out, task->inner_tid);
	buffer_uleb(out, task->parent_pid);
	buffer_uleb(out, task->start_ns);
	text_encode(out, task->comm);
	text_encode(out, task->cgroup);
	text_encode(out, task->command_line);
}

static struct error *task_decode(struct cursor *record, struct tables *t)
{
	struct prf_task task = { 0 };

	task.pid = u32_decode(record);
	task.tid = u32_decode(record);
	task.inner_pid = u32_decode(record);
	task.inner_tid = u32_decode(record);
	task.parent_pid = u32_decode(record);
	task.start_ns = cursor_uleb(record);
	task.comm = cursor_string(record);
	task.cgroup = cursor_string(record);
	task.command_line = cursor_string(record);
	if (!cursor_ok(record))
		return error_new(ERROR_CORRUPT, "its record does not hold all fields");
	return tables_add_task(t, &task) ? NULL : error_memory();
}

/* -------- payloads -------- */

/* One of the three kinds of definitions that are records. */
struct kind {
	const char *name;
	uint64_t max;
	size_t *count; /* in the tables */
	size_t extra;  /* how many of them the reader has put in */
	struct error *(*expect)(struct tables *t, uint64_t count);
	struct error *(*decode)(struct cursor *record, struct tables *t);
};

static struct error *next_decode(struct tables *t, const struct kind *kind, struct cursor *c)
{
	uint64_t id = *kind->count - kind->extra;
	struct cursor record;
	struct error *error;

	if (id >= kind->max)
		return error_new(ERROR_CORRUPT, "there are more than %" PRIu64 " %ss", kind->max,
				 kind->name);
	if (record_decode(c, &record))
		error = kind->decode(&record, t);
	else
		error = error_new(ERROR_CORRUPT, "its record is longer than the block");
	return error_prefix(error, "%s %" PRIu64, kind->name, id);
}

static struct error *payload_decode(struct tables *t, const struct kind *kind, struct cursor *c)
{
	uint64_t first_id = cursor_uleb(c), defined = *kind->count - kind->extra;
	struct error *error;
	size_t before;

	if (!cursor_ok(c))
		return error_new(ERROR_CORRUPT, "the id of the first %s is missing", kind->name);
	if (first_id < defined)
		return error_new(ERROR_CORRUPT,
				 "%ss begin with id %" PRIu64 ", but %" PRIu64 " are defined",
				 kind->name, first_id, defined);
	error = kind->expect(t, first_id);
	before = *kind->count;
	while (!error && cursor_left(c))
		error = next_decode(t, kind, c);
	if (error)
		*kind->count = before;
	return error;
}

struct error *events_decode(struct tables *t, struct cursor *c)
{
	const struct kind kind = {
		"event", WIRE_EVENTS_MAX, &t->event_count, 0, tables_expect_events, event_decode,
	};

	return payload_decode(t, &kind, c);
}

struct error *objects_decode(struct tables *t, struct cursor *c)
{
	const struct kind kind = {
		"object",
		WIRE_OBJECTS_MAX,
		&t->object_count,
		t->extra_object != PRF_NONE,
		tables_expect_objects,
		object_decode,
	};

	return payload_decode(t, &kind, c);
}

struct error *tasks_decode(struct tables *t, struct cursor *c)
{
	const struct kind kind = {
		"task", WIRE_TASKS_MAX, &t->task_count, 0, tables_expect_tasks, task_decode,
	};

	return payload_decode(t, &kind, c);
}
