/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_DEFINITIONS_H
#define REPORT_PROFILE_DEFINITIONS_H

/*
 * What samples refer to: the stacks and frames of one trace, or those of several (joined.h). A
 * view of arrays that belong to someone else.
 */

#include "report/profile/trace.h"

struct definitions {
	const struct prf_stack *stacks; /* a parent has a lower number than its children */
	const struct prf_frame *frames; /* their objects are indices into `objects` */
	const uint32_t *objects;	/* the symbolizer's numbers; NULL: they are the same */
	size_t stack_count, frame_count;
	const struct recorded_names *names;
};

/* Those of a trace that was read; valid until more of it is read. */
static inline struct definitions definitions_of(const struct trace *t)
{
	return (struct definitions){
		.stacks = prf_reader_all_stacks(t->reader),
		.frames = prf_reader_all_frames(t->reader),
		.objects = t->objects,
		.stack_count = prf_reader_stacks(t->reader),
		.frame_count = prf_reader_frames(t->reader),
		.names = &t->names,
	};
}

/* The symbolizer's number of an object of a frame. */
static inline uint32_t definitions_object(const struct definitions *d, uint32_t object)
{
	return d->objects ? d->objects[object] : object;
}

#endif
