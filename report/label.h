/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_LABEL_H
#define REPORT_LABEL_H

/*
 * Text for frames and groups as folded stacks have it: no ';', no control characters, valid
 * UTF-8, never empty, never ending in what a reader could take for a count.
 */

#include "common/buffer.h"
#include "report/view.h"

/* Appends such a version of any text. */
void label_text(struct buffer *b, const char *text);

/* Appends a frame's name with what the options add to it. */
void label_frame(struct buffer *b, const struct profile *p, const struct profile_frame *frame,
		 const struct view_options *o);

/*
 * Appends what a mask of enum profile_dimension says of an entry: "comm", "comm-PID",
 * "comm-PID/TID", "pid-PID", "cpu-3", "0.100s", ...
 */
void label_group(struct buffer *b, const struct profile *p, const struct profile_entry *entry,
		 unsigned int mask);

#endif
