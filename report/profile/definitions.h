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
	const uint32_t *objects;	/* the symbolizer's numbers */
	size_t stack_count, frame_count;
	/* Names that come with the frames; of one frame the last ones count. */
	const struct trace_names *names;
	const struct prf_place *places;
	size_t name_count;
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
		.names = t->names,
		.places = t->places,
		.name_count = t->name_count,
	};
}

#endif
