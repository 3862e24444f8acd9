/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_DEFINITIONS_H
#define FORMAT_DEFINITIONS_H

/*
 * Events, objects and tasks as bytes (prf.5, "Definitions"): payloads of records, so that a later
 * version can add fields at their ends. Ids are implicit: a block states the id of its first
 * definition and the others count up. Frames and stacks, which are many, are columns: stacks.h.
 */

#include "common/buffer.h"
#include "format/tables.h"

/* One record, without its size. Text beyond WIRE_TEXT_MAX is cut. */
void event_encode(struct buffer *out, const struct prf_event *event);
void object_encode(struct buffer *out, const struct prf_object *object);
void task_encode(struct buffer *out, const struct prf_task *task);

/* Takes a payload into the tables. ERROR_CORRUPT: then nothing of it was taken. ERROR_MEMORY. */
struct error *events_decode(struct tables *t, struct cursor *c) ERROR_CHECKED;
struct error *objects_decode(struct tables *t, struct cursor *c) ERROR_CHECKED;
struct error *tasks_decode(struct tables *t, struct cursor *c) ERROR_CHECKED;

#endif
