/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_FOLDED_LINES_H
#define REPORT_VIEWS_FOLDED_LINES_H

/*
 * A profile as lines of folded stacks, for the views that print them: one line per distinct text,
 * sorted bytewise. In memory are the tree of their texts and a place in it for each line, as lines
 * written out can be thousands of times as much as the trace.
 */

#include "report/merge/frame_table.h"
#include "report/tables/view.h"

struct folded_line {
	uint32_t leading, stack; /* where either ends in the tree; PRF_NONE: it has no frames */
	uint64_t order;
	uint64_t value;
};

struct folded_lines {
	struct folded_line *lines; /* sorted, each text once */
	size_t line_count;
	struct node_tree tree; /* a node's `frame` is the number of its text */
	size_t *sizes;	       /* of the text of each node's stack */
	struct folded_text *texts;
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
