/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/shape.h"

#include "report/merge/name_match.h"

static bool matches(const regex_t *regex, const char *name)
{
	return regex && name_matches(regex, name);
}

uint8_t shape_match(const struct shape *s, const struct profile_frame *frame)
{
	return (uint8_t)((matches(s->focus, frame->name) ? SHAPE_FOCUS : 0) |
			 (matches(s->hide, frame->name) ? SHAPE_HIDE : 0) |
			 (matches(s->root, frame->name) ? SHAPE_ROOT : 0) |
			 (matches(s->caller_of, frame->name) ? SHAPE_CALLEE : 0));
}

/* What stands for no function is kept: it says whose the next frames are. */
static bool is_script(const struct profile_frame *frame)
{
	return frame->kind == PROFILE_FRAME_SCRIPT || frame->kind == PROFILE_FRAME_JIT ||
	       frame->kind == PROFILE_FRAME_SEPARATOR;
}

bool shape_takes(const struct shape *s, struct shape_state *state,
		 const struct profile_frame *frame, uint8_t match, uint32_t depth)
{
	bool ended = state->seen & SHAPE_CALLEE;

	state->seen |= match;
	if (ended || (s->root && !(state->seen & SHAPE_ROOT)))
		return false;
	if (s->no_kernel && frame->kind == PROFILE_FRAME_KERNEL)
		return false;
	if (s->no_user && frame->kind != PROFILE_FRAME_KERNEL)
		return false;
	if (s->script_only && !is_script(frame))
		return false;
	if (match & SHAPE_HIDE)
		return false;
	return depth <
	       (s->max_depth && s->max_depth < SHAPE_DEPTH_MAX ? s->max_depth : SHAPE_DEPTH_MAX);
}

bool shape_keeps(const struct shape *s, const struct shape_state *state)
{
	return (!s->focus || (state->seen & SHAPE_FOCUS)) &&
	       (!s->root || (state->seen & SHAPE_ROOT)) &&
	       (!s->caller_of || (state->seen & SHAPE_CALLEE));
}
