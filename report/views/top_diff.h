/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEWS_TOP_DIFF_H
#define REPORT_VIEWS_TOP_DIFF_H

#include "report/tables/rows.h"

/* -f top with --diff: a row for each function, as comparison.h finds and sorts them. */
struct error *top_diff_render(const struct profile *p, const struct view_options *o,
			      enum rows_key key, struct sink *s) ERROR_CHECKED;

#endif
