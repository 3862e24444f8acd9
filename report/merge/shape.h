/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_SHAPE_H
#define REPORT_MERGE_SHAPE_H

/*
 * Which frames of a stack are shown: a stack is walked from its root to its leaf, and each
 * frame either goes on top of what is there or is left out. Starts as { 0 }: all of them.
 */

#include "report/profile/profile.h"

#include <regex.h>

/* No recorder walks deeper; frames beyond this in a trace are left out. */
#define SHAPE_DEPTH_MAX 4096

struct shape {
	const regex_t *focus;	  /* only stacks with such a frame; NULL: all */
	const regex_t *hide;	  /* leave such frames out */
	const regex_t *root;	  /* begin stacks at the first such frame; others are dropped */
	const regex_t *caller_of; /* end stacks at the first such frame; others are dropped */
	bool no_kernel, no_user;
	bool script_only;   /* only functions of programs that a runtime runs */
	uint32_t max_depth; /* frames kept, from the root; 0: all */
	bool collapse_recursion;
	bool delimiter; /* a frame "-" between user and kernel */
};

/* What the regular expressions say of a frame: bits. A shortage of memory is noted. */
enum shape_match {
	SHAPE_FOCUS = 1 << 0,
	SHAPE_HIDE = 1 << 1,
	SHAPE_ROOT = 1 << 2,
	SHAPE_CALLEE = 1 << 3,
};
uint8_t shape_match(const struct shape *s, const struct profile_frame *frame);

/* How far a stack has come. */
struct shape_state {
	uint32_t node; /* the top so far; PRF_NONE: nothing yet */
	uint8_t seen;  /* enum shape_match of the frames so far */
};

/* Whether a frame with these matches goes on top; notes in `state` that it was met. */
bool shape_takes(const struct shape *s, struct shape_state *state,
		 const struct profile_frame *frame, uint8_t match, uint32_t depth);

/* Whether a stack counts, once all its frames were met. */
bool shape_keeps(const struct shape *s, const struct shape_state *state);

#endif
