/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PAGE_HTML_PAGE_H
#define REPORT_PAGE_HTML_PAGE_H

/* A piece of the page of -f html, as it stands in report/page/html/: from `begin` up to `end`. */
struct html_piece {
	const char *begin, *end;
};

/* The page itself, with @style@, @script@, @size@ and @data@ where those belong. */
extern const struct html_piece html_page;
extern const struct html_piece html_style;

/* The scripts, in the order in which they stand in the page; the last one is { NULL, NULL }. */
extern const struct html_piece html_scripts[];

#endif
