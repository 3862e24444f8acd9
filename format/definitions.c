/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/definitions.h"

#include <stdlib.h>
#include <string.h>

#include "format/column.h"

void text_encode(struct buffer *out, const char *text)
{
	size_t size = text ? strnlen(text, WIRE_TEXT_MAX) : 0;

	buffer_append(out, text, size);
	buffer_u8(out, 0);
}

void event_encode(struct buffer *out, const struct prf_event *event)
{
	buffer_uleb(out, event->kind);
	text_encode(out, event->name);
	text_encode(out, event->unit);
	buffer_uleb(out, event->frequency);
	buffer_uleb(out, event->period);
}

void object_encode(struct buffer *out, const struct prf_object *object)
{
	size_t size = object->build_id_size;

	if (size > PRF_BUILD_ID_MAX)
		size = PRF_BUILD_ID_MAX;
	buffer_uleb(out, object->kind);
	buffer_uleb(out, object->deleted ? 1 : 0);
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

void frames_encode(struct buffer *out, const struct prf_frame *frames, uint32_t first, size_t n,
		   uint32_t objects)
{
	uint64_t *values = malloc(n * sizeof(*values));

	if (!values) {
		out->failed = true;
		return;
	}
	buffer_uleb(out, objects);
	buffer_uleb(out, first);
	buffer_uleb(out, n);
	for (size_t i = 0; i < n; i++)
		values[i] = (uint32_t)(frames[i].object + 1);
	column_encode_min(out, values, n, false);
	for (size_t i = 0; i < n; i++)
		values[i] = frames[i].flags;
	column_encode_min(out, values, n, false);
	for (size_t i = 0; i < n; i++)
		values[i] = frames[i].offset;
	column_encode_min(out, values, n, true);
	free(values);
}

void stacks_encode(struct buffer *out, const struct prf_stack *stacks, uint32_t first, size_t n,
		   uint32_t frames)
{
	uint64_t *values = malloc(n * sizeof(*values));

	if (!values) {
		out->failed = true;
		return;
	}
	buffer_uleb(out, frames);
	buffer_uleb(out, first);
	buffer_uleb(out, n);
	/* How far back the parent is; 0: none. */
	for (size_t i = 0; i < n; i++)
		values[i] = stacks[i].parent == PRF_NONE ? 0 : first + i - stacks[i].parent;
	column_encode_min(out, values, n, false);
	for (size_t i = 0; i < n; i++)
		values[i] = stacks[i].frame;
	column_encode_min(out, values, n, true);
	free(values);
}
