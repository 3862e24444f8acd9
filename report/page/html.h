/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PAGE_HTML_H
#define REPORT_PAGE_HTML_H

#include "report/tables/view.h"

/*
 * -f html: one page that needs nothing else: flame graph, icicle and sandwich, with time strip
 * and thread selector; with o->base a comparison. report/page/html/ has its scripts.
 *
 * All that comes from the trace is in one base64 text (of a zlib stream), which holds neither
 * markup nor script whatever the names are; the scripts show names only as text.
 */
struct error *html_render(const struct profile *p, const struct view_options *o,
			  struct sink *s) ERROR_CHECKED;

#endif
