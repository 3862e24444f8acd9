/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PAGE_HTML_CODE_H
#define REPORT_PAGE_HTML_CODE_H

/*
 * Sources and instructions with their hits, as -f annotate writes them, of the functions with the
 * largest self values. For the page, in report/page/html/payload.js in the same order:
 *
 *   count; of each: name, object (numbers of texts), size, text
 */

#include "report/page/html_texts.h"
#include "report/tables/view.h"

/* Nothing but a count of 0 where none are asked for. ERROR_MEMORY; `out` and `texts` may fail. */
struct error *html_code_put(struct buffer *out, struct html_texts *texts, const struct profile *p,
			    const struct view_options *o) ERROR_CHECKED;

#endif
