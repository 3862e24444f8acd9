/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_JAVASCRIPT_V8_NAMES_H
#define RECORD_JAVASCRIPT_V8_NAMES_H

/*
 * Names for the functions of V8. The kernel half sends them when it sees a function for the first
 * time (struct v8_name), with its script's name and a part of its source. The line where it begins
 * needs the whole source before it: that is in the record if it is short, else it is read from the
 * process, and counts only if it has that part in that place. So memory that was used again gives
 * no line rather than a wrong one. A source that was not paged in is sent again: by then it is.
 */

#include "bpf/abi/sample.h"
#include "bpf/abi/v8.h"
#include "format/prf.h"
#include "record/runtimes/target_memory.h"
#include "record/javascript/v8_inlined.h"

#define V8_PLACES_MAX (V8_INLINED_DEPTH + 1)

struct v8_names;

struct v8_names_options {
	/* The memory of a process that may have ended. */
	struct target_memory (*memory)(uint32_t pid);
	/* The names of a function must be sent again, when it is seen next. */
	void (*again)(void *context, uint64_t code, uint64_t position);
	/* Called when so much was kept that all was forgotten: names must be sent again. */
	void (*forgot)(void *context);
	void *context;
};

/* NULL without memory. */
struct v8_names *v8_names_new(const struct v8_names_options *options);
void v8_names_free(struct v8_names *n);

/* Adds a record of the kernel half. False: it is malformed, or there is no memory for it. */
bool v8_names_add(struct v8_names *n, const void *data, size_t size);

/* A frame, and where its code was left. `exact`: interrupted there, not after a call. */
struct v8_question {
	const struct script_frame *frame;
	uint64_t address;
	bool exact;
};

/*
 * The place of the frame's function: its name, its script, and the line where it begins; before it
 * those of functions that were inlined there, the innermost one first. 0: its names have not come.
 * `complete`: it will stay like this, while lines and inlined functions may be known later
 * otherwise. Texts stay valid until the next v8_names_add().
 */
size_t v8_names_find(const struct v8_names *n, const struct v8_question *question,
		     struct prf_place places[V8_PLACES_MAX], bool *complete);

#endif
