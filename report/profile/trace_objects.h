/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_TRACE_OBJECTS_H
#define REPORT_PROFILE_TRACE_OBJECTS_H

/*
 * The objects of a trace as those of the symbolizer, which knows equal ones once.
 */

#include "common/map.h"
#include "report/symbols/symbolizer.h"

struct trace_objects {
	struct map *known; /* object as text -> the symbolizer's number; may be of several traces */
	/* The symbolizer's number of each object. Where it is says which trace's own it is. */
	uint32_t **numbers;
	size_t *count;
};

/* Adds to the symbolizer the objects that the reader has met since the last call. ERROR_MEMORY. */
struct error *trace_objects_follow(const struct trace_objects *o, const struct prf_reader *reader,
				   struct symbolizer *symbolizer) ERROR_CHECKED;

#endif
