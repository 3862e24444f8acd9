/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_FOLDED_LINES_H
#define REPORT_VIEWS_FOLDED_LINES_H

/*
 * A profile as lines of folded stacks in memory, for the views that print them: one line per
 * distinct text, sorted bytewise.
 */

#include "report/tables/view.h"

struct folded_line {
	size_t first, count; /* frames[first .. first + count - 1], root first: ids of texts */
	uint64_t value;
};

struct folded_lines {
	struct folded_line *lines; /* sorted, each text once */
	size_t line_count;
	uint32_t *frames;
	struct folded_text *texts; /* sorted */
	size_t text_count;
	struct buffer bytes;
};

/* ERROR_MEMORY; to be released in both cases. */
struct error *folded_lines_init(struct folded_lines *f, const struct profile *p,
				const struct view_options *o) ERROR_CHECKED;
void folded_lines_release(struct folded_lines *f);

/* Writes the stack of a line, without its count. */
void folded_lines_stack(const struct folded_lines *f, const struct folded_line *line,
			struct sink *s);

#endif
