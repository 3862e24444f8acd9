/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/tables/frame_text.h"

#include <string.h>

static const char *suffix(const struct profile_frame *frame)
{
	if (frame->kind == PROFILE_FRAME_SEPARATOR)
		return "";
	if (frame->waker)
		return "_[w]";
	if (frame->guessed)
		return "_[g]";
	if (frame->inlined)
		return "_[i]";
	if (frame->kind == PROFILE_FRAME_KERNEL)
		return "_[k]";
	if (frame->kind == PROFILE_FRAME_SCRIPT)
		return "_[s]";
	return frame->kind == PROFILE_FRAME_JIT ? "_[j]" : "";
}

void frame_text(struct buffer *b, const struct profile *p, const struct profile_frame *frame,
		const struct view_options *o)
{
	bool plain = frame->kind == PROFILE_FRAME_SEPARATOR || frame->kind == PROFILE_FRAME_END;

	if (o->modules && frame->named && frame->object != PRF_NONE) {
		label_text(b, p->objects[frame->object].name);
		buffer_u8(b, '`');
	}
	label_text(b, frame->name);
	if (o->addresses && !frame->named && !plain && b->size && b->data[b->size - 1] == ']') {
		b->size--;
		buffer_printf(b, " <%llx>]", (unsigned long long)frame->offset);
	}
	if (o->lines && frame->file[0]) {
		buffer_text(b, " (");
		label_text(b, label_base_name(frame->file));
		buffer_printf(b, ":%u)", frame->line);
	}
	if (o->annotate)
		buffer_text(b, suffix(frame));
}
