/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/folded.h"

#include "report/views/diff.h"
#include "report/views/folded_lines.h"

struct error *folded_render(const struct profile *p, const struct view_options *o, struct sink *s)
{
	struct folded_lines f;
	struct error *error;

	if (o->base)
		return diff_render(p, o, s);
	error = folded_lines_init(&f, p, o);
	for (size_t i = 0; !error && i < f.line_count; i++) {
		folded_lines_stack(&f, &f.lines[i], s);
		sink_char(s, ' ');
		sink_unsigned(s, f.lines[i].value);
		sink_char(s, '\n');
	}
	folded_lines_release(&f);
	return error;
}
