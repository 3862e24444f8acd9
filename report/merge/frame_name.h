/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_FRAME_NAME_H
#define REPORT_MERGE_FRAME_NAME_H

#include "common/buffer.h"
#include "report/profile/profile.h"

/* The short name of an object: "libc.so.6", "[kernel]", "[vdso]". Points into the path. */
const char *object_short_name(const struct prf_object *object);

/*
 * What stands for a frame without a name: "[libc.so.6]", "[unknown]", "[truncated]". NULL:
 * the frame says nothing and is not shown. `object` may be NULL; `room` may hold the text, and has
 * failed without memory for it.
 */
const char *frame_placeholder(const struct prf_frame *frame, const struct prf_object *object,
			      struct buffer *room);

enum profile_frame_kind frame_kind_of(const struct prf_frame *frame,
				      const struct prf_object *object);

#endif
