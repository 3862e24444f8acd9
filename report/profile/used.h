/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_USED_H
#define REPORT_PROFILE_USED_H

/*
 * Which recorded stacks and frames were counted: only these are named and shown. Starts as { 0 }.
 */

#include "report/profile/tally.h"
#include "report/profile/trace.h"

struct used {
	const struct trace *traces;
	size_t trace_count;
	size_t stack_count;	    /* of all traces together */
	uint8_t **stacks, **frames; /* [trace][stack or frame] */
};

/* ERROR_MEMORY; to be released in any case. */
struct error *used_init(struct used *u, const struct tally *tally, const struct trace *traces,
			size_t n) ERROR_CHECKED;
void used_release(struct used *u);

/* The trace that a global stack belongs to. */
uint32_t used_trace_of(const struct used *u, uint32_t stack);

#endif
