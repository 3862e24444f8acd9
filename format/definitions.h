/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_DEFINITIONS_H
#define FORMAT_DEFINITIONS_H

/*
 * Events, objects, tasks, frames and stacks as bytes (prf.5, "Definitions"). Ids are implicit: a
 * block states the id of its first definition and the others count up. A block that names ids
 * states how many of them there were, so that a reader notices definitions that it never saw.
 */

#include "common/buffer.h"
#include "format/prf.h"
#include "format/wire.h"

/* One record, without its length. Text beyond WIRE_TEXT_MAX is cut. */
void event_encode(struct buffer *out, const struct prf_event *event);
void object_encode(struct buffer *out, const struct prf_object *object);
void task_encode(struct buffer *out, const struct prf_task *task);

/* Text as records have it: its bytes and a NUL. NULL counts as "". */
void text_encode(struct buffer *out, const char *text);

/* Whole payloads. `objects` and `frames` are how many the trace had defined by then. */
void frames_encode(struct buffer *out, const struct prf_frame *frames, uint32_t first, size_t n,
		   uint32_t objects);
void stacks_encode(struct buffer *out, const struct prf_stack *stacks, uint32_t first, size_t n,
		   uint32_t frames);

#endif
