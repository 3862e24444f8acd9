/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_DHAT_H
#define BENCH_MEASURE_DHAT_H

/*
 * What valgrind's DHAT wrote about the heap of a program: JSON with a list of program points, each
 * the stack of an allocation and what was allocated there.
 */

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

/* Of the whole program. */
struct dhat_counts {
	double total_bytes, total_blocks;
	double peak_bytes, peak_blocks; /* when the most bytes were in use */
	double end_bytes, end_blocks;
};

/* The allocations of one stack. */
struct dhat_site {
	struct dhat_counts counts;
	char *stack; /* functions, the allocating one first: "make_node < insert < main" */
};

/* Starts as { 0 }. */
struct dhat {
	struct dhat_counts counts;
	struct dhat_site *sites; /* those with the most bytes at the peak first */
	size_t site_count;
};

/* From the text of DHAT's output file. */
struct error *dhat_parse(struct dhat *d, const char *text) ERROR_CHECKED;
void dhat_release(struct dhat *d);

#endif
