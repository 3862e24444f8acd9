/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_DIFF_H
#define REPORT_VIEWS_DIFF_H

#include "report/tables/view.h"

/*
 * -f folded with --diff: each stack of either profile with its count in o->base and in `p`,
 * "comm;root;...;leaf BEFORE NOW", as difffolded.pl writes it and flamegraph.pl reads it.
 * With o->normalize the first counts are scaled to the same total, and rounded down.
 */
struct error *diff_render(const struct profile *p, const struct view_options *o,
			  struct sink *s) ERROR_CHECKED;

#endif
