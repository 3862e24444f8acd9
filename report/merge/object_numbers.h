/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_OBJECT_NUMBERS_H
#define REPORT_MERGE_OBJECT_NUMBERS_H

/* The objects of all traces, each once: what several traces recorded may be the same file. */

#include "common/map.h"
#include "report/profile/profile.h"
#include "report/profile/trace.h"
#include "report/symbols/symbolizer.h"

struct object_numbers {
	struct profile_object *list; /* what becomes profile.objects */
	uint32_t *in_symbolizer;     /* the symbolizer's number of each */
	size_t count;
	uint32_t *of; /* by number of the symbolizer: the number in `list` */
	struct map ids;
};

/* ERROR_MEMORY; to be released in any case. The symbolizer, which has the objects, must stay. */
struct error *object_numbers_init(struct object_numbers *o, const struct symbolizer *symbolizer,
				  const struct trace *traces, size_t n) ERROR_CHECKED;
void object_numbers_release(struct object_numbers *o);

/* Fills in what became of the symbols of each, once the symbolizer has run. */
void object_numbers_add_status(struct object_numbers *o, const struct symbolizer *symbolizer);

#endif
