/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_LABEL_H
#define REPORT_MERGE_LABEL_H

/*
 * Text for groups and frames as folded stacks have it: no ';', no control characters, valid
 * UTF-8, never empty, never ending in what a reader could take for a count.
 */

#include "common/buffer.h"
#include "report/profile/profile.h"

/* Appends such a version of any text. */
void label_text(struct buffer *b, const char *text);

/* The part of a path after its last slash; all of it when that would be empty. */
const char *label_base_name(const char *path);

/*
 * Appends what a mask of enum profile_dimension says of an entry: "comm", "comm-PID",
 * "comm-PID/TID", "pid-PID", "cpu-3", "parallelism-2", "0.100s", ...
 */
void label_group(struct buffer *b, const struct profile *p, const struct profile_entry *entry,
		 unsigned int mask);

#endif
