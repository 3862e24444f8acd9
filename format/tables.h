/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_TABLES_H
#define FORMAT_TABLES_H

/*
 * What a trace has defined so far, by id, as a reader fills it from payloads (definitions.h,
 * stacks.h). In the place of definitions that it never saw stands "[lost]".
 */

#include "common/arena.h"
#include "common/cursor.h"
#include "common/error.h"
#include "format/prf.h"
#include "format/wire.h"

struct tables {
	struct arena arena;
	const struct prf_event **events;
	const struct prf_object **objects;
	const struct prf_task **tasks;
	struct prf_frame *frames;
	struct prf_stack *stacks;
	size_t event_count, object_count, task_count, frame_count, stack_count;
	size_t event_room, object_room, task_room, frame_room, stack_room;
	uint32_t lost_object, lost_frame; /* one of them; PRF_NONE: none was needed yet */
	/*
	 * When a frame (stack) is lost but no object (frame) is, the "[lost]" one it needs is put
	 * in between: from this id on the reader's ids are one higher than the trace's. Else
	 * PRF_NONE.
	 */
	uint32_t extra_object, extra_frame;
	uint64_t lost;	       /* placeholders so far */
	uint64_t lost_allowed; /* how many the size of the trace can justify */
};

void tables_init(struct tables *t);
void tables_release(struct tables *t);

/* Adds a copy, with its text. False without memory. */
bool tables_add_event(struct tables *t, const struct prf_event *event);
bool tables_add_object(struct tables *t, const struct prf_object *object);
bool tables_add_task(struct tables *t, const struct prf_task *task);

/* Room for `n` more; what is in it counts once frame_count or stack_count is raised. */
bool tables_reserve_frames(struct tables *t, size_t n);
bool tables_reserve_stacks(struct tables *t, size_t n);

/*
 * Adds placeholders until there are as many as the trace had. ERROR_CORRUPT when that is more
 * than the format allows or than the size of the trace can justify; ERROR_MEMORY.
 */
struct error *tables_expect_events(struct tables *t, uint64_t count) ERROR_CHECKED;
struct error *tables_expect_objects(struct tables *t, uint64_t count) ERROR_CHECKED;
struct error *tables_expect_tasks(struct tables *t, uint64_t count) ERROR_CHECKED;
struct error *tables_expect_frames(struct tables *t, uint64_t count) ERROR_CHECKED;
struct error *tables_expect_stacks(struct tables *t, uint64_t count) ERROR_CHECKED;

/* How many the trace itself has defined. */
static inline uint64_t tables_own_objects(const struct tables *t)
{
	return t->object_count - (t->extra_object != PRF_NONE);
}

static inline uint64_t tables_own_frames(const struct tables *t)
{
	return t->frame_count - (t->extra_frame != PRF_NONE);
}

/* The reader's id of one that the trace names, which must be below the count it stated. */
static inline uint32_t tables_object(const struct tables *t, uint64_t id)
{
	return (uint32_t)id + (id >= t->extra_object);
}

static inline uint32_t tables_frame(const struct tables *t, uint64_t id)
{
	return (uint32_t)id + (id >= t->extra_frame);
}

#endif
