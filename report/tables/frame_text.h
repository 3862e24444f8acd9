/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_TABLES_FRAME_TEXT_H
#define REPORT_TABLES_FRAME_TEXT_H

/* A frame as the text formats show it. */

#include "report/merge/label.h"
#include "report/tables/view.h"

/* Appends a frame's name with what the options add to it: object, offset, line, marks. */
void frame_text(struct buffer *b, const struct profile *p, const struct profile_frame *frame,
		const struct view_options *o);

#endif
