/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_SLICES_H
#define REPORT_SLICES_H

/*
 * When the samples of a tally's cells came: moments, in the order of the trace, each the
 * samples that one cell got in one slice of time. Slices double in length rather than become
 * too many, and so do moments: both stay bounded however long a trace is. Starts as { 0 },
 * apart from `length_ns` and `max`.
 */

#include "report/profile.h"

struct moment {
	uint32_t cell, samples;
	uint64_t weight;
};

/* The moments from `first` up to that of the next run lie in `slice`. */
struct slice_run {
	uint32_t slice, first;
};

struct slices {
	uint64_t length_ns;
	uint32_t max; /* slices are numbered below this */
	struct moment *moments;
	size_t count, capacity;
	struct slice_run *runs; /* two of a slice only where samples are not in order of time */
	size_t run_count, run_capacity;
	uint32_t *last; /* of each cell met: its last moment, or PRF_NONE */
	size_t cells, cell_capacity;
	uint64_t begin, end; /* of the last run's slice, since the origin; equal: to be found */
};

void slices_release(struct slices *s);

/* From now on, times count from another origin. */
void slices_restart(struct slices *s);

/* Counts a sample of a cell, `since` ns after the origin; false without memory. */
bool slices_count(struct slices *s, uint32_t cell, uint64_t since, uint64_t weight);

/* What one sample and one unit of weight count for. */
struct slices_worth {
	uint64_t of_sample, of_weight;
};

/* What a cell became: an entry's index or PRF_NONE, and which of the worths its samples have. */
struct slices_place {
	uint32_t entry, worth;
};

struct slices_cells {
	const struct slices_place *places;
	const struct slices_worth *worths;
};

/*
 * Splits `*n` entries, which are sorted by group, by slices. The result is sorted by group, then
 * slice, then by when the stacks were first met in the slice. NULL without memory.
 */
struct profile_entry *slices_split(const struct slices *s, const struct profile_entry *entries,
				   size_t *n, const struct slices_cells *cells);

#endif
