/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_GATE_CHANGE_POINTS_H
#define BENCH_GATE_CHANGE_POINTS_H

/* Where the measures of a history changed for good; see statistics/changes.h. */

#include "bench/gate/history.h"

struct change_point {
	const char *benchmark, *measure;   /* the history's */
	const struct history_entry *entry; /* the first with the new value */
	double before, after;		   /* medians on both sides, up to the next changes */
};

/*
 * Those of each measure of each benchmark in the entries of `branch` and `testbed` (NULL: of all),
 * the last CHANGES_VALUES_MOST of them, to be freed.
 */
struct error *change_points_find(const struct history *h, const char *branch, const char *testbed,
				 struct change_point **points, size_t *count) ERROR_CHECKED;

#endif
