/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/frame_name.h"

#include <string.h>

const char *object_short_name(const struct prf_object *object)
{
	const char *slash;

	if (object->path[0] == '[' || !object->path[0])
		return object->path;
	slash = strrchr(object->path, '/');
	return slash && slash[1] ? slash + 1 : object->path;
}

static const char *end_name(uint64_t end)
{
	switch (end) {
	case PRF_END_TOO_DEEP: return "[truncated]";
	case PRF_END_ROOT: return NULL;
	default: return "[incomplete]";
	}
}

const char *frame_placeholder(const struct prf_frame *frame, const struct prf_object *object,
			      struct buffer *room)
{
	const char *name;

	if (frame->flags & PRF_FRAME_END)
		return end_name(frame->offset);
	if (!object)
		return frame->flags & PRF_FRAME_KERNEL ? "[kernel]" : "[unknown]";
	name = object_short_name(object);
	switch (object->kind) {
	case PRF_OBJECT_KERNEL: return "[kernel]";
	case PRF_OBJECT_VDSO: return "[vdso]";
	case PRF_OBJECT_UNKNOWN: return !strcmp(name, "[lost]") ? "[lost]" : "[unknown]";
	case PRF_OBJECT_ANONYMOUS:
		if (!*name || !strncmp(name, "//anon", 6) || !strcmp(name, "anon"))
			return "[anon]";
		break;
	default:
		if (!*name)
			return "[unknown]";
	}
	if (*name == '[')
		return name;
	buffer_clear(room);
	buffer_printf(room, "[%s]", name);
	return buffer_string(room);
}

enum profile_frame_kind frame_kind_of(const struct prf_frame *frame,
				      const struct prf_object *object)
{
	if (frame->flags & PRF_FRAME_END)
		return PROFILE_FRAME_END;
	if (frame->flags & PRF_FRAME_KERNEL)
		return PROFILE_FRAME_KERNEL;
	if (object && object->kind == PRF_OBJECT_JIT)
		return PROFILE_FRAME_JIT;
	if (object && object->kind == PRF_OBJECT_SCRIPT)
		return PROFILE_FRAME_SCRIPT;
	return PROFILE_FRAME_USER;
}
