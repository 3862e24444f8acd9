/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PAGE_HTML_CELLS_H
#define REPORT_PAGE_HTML_CELLS_H

/*
 * The cells of the page: what each source has at each node in each slice of time. They come in runs
 * of one source in one slice, by slice and then by source, and in a run in the order of their
 * nodes:
 *
 *   runs       count; columns: slice (less that of the one before), source, number of cells
 *   cells      count; columns: node (less that of the one before in its run), value
 */

#include "common/buffer.h"
#include "report/profile/profile.h"

/* Parts of one group in one slice, which follow each other in the profile. */
struct html_stretch {
	uint32_t slice, source;
	size_t first, count;
};

/* Starts with what cells are made of; all else is { 0 }. */
struct html_cells {
	const struct profile *profile;
	const uint32_t *source_of; /* per group */
	uint32_t source_count;
	const uint32_t *node_of;   /* per entry: its node in the tree */
	const uint32_t *node_rank; /* per node of the tree: its number in the page */

	struct html_stretch *stretches; /* as runs come; those of one run follow each other */
	size_t stretch_count, stretch_capacity;
	uint32_t slices; /* how many there are */
};

/* Finds the stretches and slices. ERROR_MEMORY. */
struct error *html_cells_find(struct html_cells *c) ERROR_CHECKED;
/* Puts runs and cells; `out` may fail. */
void html_cells_put(const struct html_cells *c, struct buffer *out);
void html_cells_release(struct html_cells *c);

#endif
