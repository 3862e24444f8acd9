/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_FOLDED_H
#define REPORT_VIEWS_FOLDED_H

/*
 * Folded stacks, as flamegraph.pl and its kin read them: "comm;root;...;leaf COUNT", one line
 * per distinct text, sorted bytewise; with a base two counts, see diff.h.
 */

#include "report/tables/view.h"

struct error *folded_render(const struct profile *p, const struct view_options *o,
			    struct sink *s) ERROR_CHECKED;

#endif
