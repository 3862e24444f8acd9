/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_FOLDED_H
#define REPORT_FOLDED_H

/*
 * Folded stacks, as flamegraph.pl and its kin read them: "comm;root;...;leaf COUNT", one line
 * per distinct text, sorted bytewise.
 */

#include "report/view.h"

int folded_render(const struct profile *p, const struct view_options *o, struct sink *s);

/* The same lines in memory, for views that go on from them. */
struct folded_line {
	size_t first, count; /* frames[first .. first + count - 1], root first: ids of texts */
	uint64_t value;
};

struct folded {
	struct folded_line *lines; /* sorted, each text once */
	size_t line_count;
	uint32_t *frames;
	struct folded_text *texts; /* sorted */
	size_t text_count;
	struct buffer bytes;
};

/* 0 or -ENOMEM; to be released in both cases. */
int folded_init(struct folded *f, const struct profile *p, const struct view_options *o);
void folded_release(struct folded *f);

/* Writes the stack of a line, without its count. */
void folded_stack(const struct folded *f, const struct folded_line *line, struct sink *s);

#endif
