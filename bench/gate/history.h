/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_GATE_HISTORY_H
#define BENCH_GATE_HISTORY_H

/*
 * Results of earlier runs: a text file with one JSON object a line, oldest first, so that it
 * merges and diffs like text:
 *
 *     {"time": 1700000000, "branch": "main", "hash": "1a2b", "testbed": "ci", "results": {BMF}}
 *
 * An entry that the gate refused carries "regressed": true and is no baseline for later ones. One
 * that lacks what was measured before carries "incomplete": true: it does not show what is to be
 * measured.
 */

#include <stdint.h>

#include "bench/results/results.h"

struct history_entry {
	int64_t time; /* seconds since 1970 */
	char *branch, *hash, *testbed;
	bool regressed, incomplete;
	struct results results;
};

/* Starts as { 0 }. */
struct history {
	struct history_entry *all;
	size_t count;
};

/* A missing file is an empty history; a line that is not such an object is an error. */
struct error *history_read(struct history *h, const char *path) ERROR_CHECKED;
void history_release(struct history *h);

/* Adds a line at the end of the file. */
struct error *history_append(const char *path, const struct history_entry *entry) ERROR_CHECKED;

/* Which entries come before the one to be judged. */
struct history_view {
	const char *branch, *testbed;
	/*
	 * When set, the branch continues another one: that one's
	 * entries up to the last with `start_hash` (NULL: all) come first.
	 */
	const char *start_branch, *start_hash;
	int64_t since; /* entries before this time do not count */
};

/*
 * Whether entry `i` counts. False for all of the start point when its hash is not there.
 */
bool history_counts(const struct history *h, const struct history_view *view, size_t i);

/* The values of one measure in the entries that count, to be freed. */
struct error *history_values(const struct history *h, const struct history_view *view,
			     const struct result *of, double **values, size_t *n) ERROR_CHECKED;

#endif
