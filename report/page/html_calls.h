/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PAGE_HTML_CALLS_H
#define REPORT_PAGE_HTML_CALLS_H

/*
 * What changed from call to call, for the page: what -f tree --diff has. There are
 *
 *   calls   count; columns: node of the page's tree (less the one before), flags; then
 *           HTML_CHANGE_COLUMNS columns of floats, of all that is called from there
 *
 * of those that surely changed, or by HTML_CALL_PERCENT of all, and of those that lead to them.
 */

#include "report/page/call_tree.h"
#include "report/difference/compared_runs.h"

/* A call that changed by so much is in the page, even if that may be noise. */
#define HTML_CALL_PERCENT 1

/* Before, now, low, high, p. */
#define HTML_CHANGE_COLUMNS 5

enum html_change_flag {
	HTML_CHANGE_WAS = 1 << 0,  /* it was there before */
	HTML_CHANGE_IS = 1 << 1,   /* it is there now */
	HTML_CHANGE_SELF = 1 << 2, /* its own time surely changed */
	HTML_CHANGE_TOTAL = 1 << 3,
	HTML_CHANGE_RENAMED = 1 << 4, /* enum lineage_kind */
	HTML_CHANGE_INLINED = 1 << 5,
	HTML_CHANGE_CALLED = 1 << 6,
};

struct html_compared {
	const struct profile *base, *now;
	const struct call_tree *tree;
	const struct call_order *order;
	const uint32_t *node_of, *base_node_of; /* of each entry of both profiles */
};

/* One column of a change, as a float; `out` may fail. */
void html_change_put(struct buffer *out, const struct change *change, int column);

/* ERROR_MEMORY; besides, `out` may fail. */
struct error *html_calls_put(struct buffer *out, const struct html_compared *compared,
			     const struct compared_runs *runs) ERROR_CHECKED;

#endif
