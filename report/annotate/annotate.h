/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_ANNOTATE_ANNOTATE_H
#define REPORT_ANNOTATE_ANNOTATE_H

/*
 * -f annotate: a function's source, with what was counted at each line and in what was inlined
 * there, and its instructions.
 */

#include "report/tables/view.h"

/*
 * ERROR_ARGUMENT: no function, or more than one, is meant; the text says what to do. What cannot be
 * shown, such as a source that is not here, is said in its place.
 */
struct error *annotate_render(const struct profile *p, const struct view_options *o,
			      struct sink *s) ERROR_CHECKED;

/* As view_options.listings: of each of the rows of a table by function its listing. */
struct error *annotate_each(const struct profile *p, const struct view_options *o,
			    const struct view_listings *listings) ERROR_CHECKED;

#endif
