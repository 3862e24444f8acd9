/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DIFFERENCE_COMPARED_RUNS_H
#define REPORT_DIFFERENCE_COMPARED_RUNS_H

/*
 * The runs of a comparison: each trace of a profile is one, so the profile must distinguish traces
 * (PROFILE_BY_TRACE). What was counted in a run becomes comparable by its exposure, see
 * report/difference/change.h.
 */

#include "report/profile/profile.h"
#include "report/difference/change.h"

/* The runs of one side: so many traces of a profile, from the first on. */
struct compared_side {
	const struct profile *profile;
	size_t first, count;
};

struct compared_runs {
	struct compared_side sides[2]; /* enum change_side */
	size_t all;		       /* runs: those before, then those now */
	double *exposure;	       /* of each run */
	size_t *partner;  /* of each run before: that now beside it, of all; NULL: none */
	bool by_samples;  /* counts are samples, not values */
	bool noise_known; /* false: there are no intervals and no p */
	bool scaled;	  /* those before are scaled to the total of now */
	double totals[2]; /* of everything, for one run */
	const char *unit; /* of values: "s", or that of the profile */
};

/* `scale`: shares of the total, not the values themselves. ERROR_MEMORY; to be released then, too.
 */
struct error *compared_runs_init(struct compared_runs *r, const struct compared_side sides[2],
				 bool scale) ERROR_CHECKED;
void compared_runs_release(struct compared_runs *r);

/*
 * Counts the entries of a profile whose traces are the runs from `first` on: entry i in row
 * row_of[i], unless that is PRF_NONE, of counts[row * runs.all + run].
 */
void compared_runs_count(const struct compared_runs *r, const struct profile *p, size_t first,
			 const uint32_t *row_of, uint64_t *counts);

/* Fills changes[0..n); row i has counts[i * runs.all + run]. ERROR_MEMORY. */
struct error *compared_runs_estimate(const struct compared_runs *r, struct change *changes,
				     size_t n, const uint64_t *counts) ERROR_CHECKED;

#endif
