/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_SLICES_H
#define REPORT_PROFILE_SLICES_H

/*
 * When the samples of a tally's cells came: moments, in the order of the trace, each of
 * samples that one cell got in one slice of time. A moment is one sample at first, which costs
 * no search; those of a cell in a slice are joined when there are many. Slices double in length
 * rather than become too many or hold too many moments: both stay bounded however long a trace
 * is. Starts as { 0 }, apart from `length_ns` and `max`.
 */

#include "report/profile/profile.h"

/* The moments from `first` up to that of the next run lie in `slice`. */
struct slice_run {
	uint32_t slice, first;
};

struct slices {
	uint64_t length_ns;
	uint32_t max;	     /* slices are numbered below this */
	uint32_t *cells;     /* of each moment */
	uint32_t *samples;   /* of each moment; NULL as long as each is one sample */
	uint64_t *weights;   /* of each moment; NULL as long as each sample weighs 1, as mostly */
	size_t count, limit; /* of moments; at the limit they are joined */
	size_t room;	     /* below this, moments of one sample that weighs 1 need only a cell */
	size_t capacity, sample_capacity, weight_capacity;
	struct slice_run *runs; /* two of a slice only where samples are not in order of time */
	size_t run_count, run_capacity;
	uint64_t begin, end; /* of the last run's slice, since the origin; equal: to be found */
};

void slices_release(struct slices *s);

/* From now on, times count from another origin. */
void slices_restart(struct slices *s);

/* From now on the cells from `first` on are those that `numbers` has: of the first one at 0. */
void slices_renumber(struct slices *s, uint32_t first, const uint32_t *numbers);

/* Joins the moments of a cell that lie in one run; false without memory. */
bool slices_join(struct slices *s);

/* slices_count() where that takes more than to note the cell. */
bool slices_append(struct slices *s, uint32_t cell, uint64_t since, uint64_t weight);

/* Counts a sample of a cell, `since` ns after the origin; false without memory. */
static inline bool slices_count(struct slices *s, uint32_t cell, uint64_t since, uint64_t weight)
{
	if (since < s->begin || since >= s->end || weight != 1 || s->count >= s->room)
		return slices_append(s, cell, since, weight);
	s->cells[s->count++] = cell;
	return true;
}

/* What one sample and one unit of weight count for. */
struct slices_worth {
	uint64_t of_sample, of_weight;
};

/* What a cell became: an entry's index or PRF_NONE, and which of the worths its samples have. */
struct slices_place {
	uint32_t entry, worth;
};

/* Entries, sorted by group, and the cells that they were made of. */
struct slices_cells {
	const struct slices_place *places;
	const struct slices_worth *worths;
	const struct profile_entry *entries;
	size_t entry_count;
};

struct slices_parts {
	struct profile_part *parts; /* of entries in slices, in the order of profile.parts */
	uint64_t *samples;	    /* of each of them; NULL where they are not wanted */
	size_t count;
};

void slices_parts_release(struct slices_parts *parts);

/* Splits entries by slices; `parts` is { 0 } before. False without memory. */
bool slices_split(const struct slices *s, const struct slices_cells *cells, bool samples,
		  struct slices_parts *parts);

#endif
