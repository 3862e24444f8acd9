/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_NAMED_FRAMES_H
#define REPORT_MERGE_NAMED_FRAMES_H

/*
 * What each recorded frame is shown as: a function, or with inlined calls several, or what
 * stands for an object without names. Starts as { 0 }.
 */

#include "report/merge/frame_table.h"
#include "report/merge/object_numbers.h"
#include "report/merge/used.h"
#include "report/symbols/symbolizer.h"

/* A recorded frame: `count` frames of the table, innermost first. */
struct expansion {
	uint32_t first, count;
	uint32_t query; /* PRF_NONE: nothing to look up */
};

struct named_frames {
	const struct definitions *definitions;
	const struct used *used;
	const struct object_numbers *objects;
	struct symbolizer *symbolizer;
	unsigned int detail; /* enum profile_detail */
	/* The trace gets the names that are found, for the next time; NULL: it does not. */
	struct trace *keeper;
	struct frame_table table;
	struct expansion *expansions; /* by frame; count 0 where not used */
	uint32_t *frames;	      /* of all expansions: numbers in `table` */
	size_t count, capacity;
};

/* Runs the symbolizer and names all used frames; all before `table` is the caller's. */
struct error *named_frames_make(struct named_frames *n) ERROR_CHECKED;
void named_frames_release(struct named_frames *n);

#endif
