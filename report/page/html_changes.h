/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PAGE_HTML_CHANGES_H
#define REPORT_PAGE_HTML_CHANGES_H

/*
 * What changed from function to function, for the page: what -f top --diff has, as it is and by
 * shares of the total (--normalize). For each of the two there is, in report/page/html/payload.js
 * in the same order:
 *
 *   head       size, JSON
 *   rows       count; columns: name, object, other (numbers of texts), flags;
 *              then 5 columns of floats (before, now, low, high, p) of self, and 5 of total;
 *              the first row changed most
 *   functions  of each function of the page, by its number: 0, or 1 + 2 * its row, and one more by
 * the old name of a renamed one calls      as report/page/html_calls.h says
 */

#include "report/page/html_calls.h"
#include "report/page/html_texts.h"

/* ERROR_MEMORY; besides, `out` and `texts` may fail. */
struct error *html_changes_put(struct buffer *out, struct html_texts *texts,
			       const struct html_compared *compared) ERROR_CHECKED;

#endif
