/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_ANNOTATE_HITS_H
#define REPORT_ANNOTATE_HITS_H

/*
 * What was counted in one function of a profile: by line, with the calls that were inlined there,
 * and by address. The profile must have lines and addresses (PROFILE_BY_LINE, PROFILE_BY_ADDRESS).
 *
 * A sample counts once at each line and at each address, however often the function is in its
 * stack.
 *
 * Where runs are compared, the profile's traces are the runs, and those before come first. A line
 * before is the one that lies as far below the beginning of its function now, for functions move
 * when something above them changes; it is of the same file if that has the same name, in whatever
 * folder.
 */

#include "report/profile/profile.h"

#include "common/error.h"

struct hit_count {
	uint64_t self_samples, total_samples;
	uint64_t self, total; /* in the profile's unit */
};

/* A line of the function, or of one that was inlined into the place `parent`. */
struct hit_place {
	uint32_t parent; /* PRF_NONE: of the function itself; else a lower number */
	const struct profile_frame *frame; /* one of those there, if possible of a run now */
	const char *file;		   /* of the line, */
	uint32_t line;			   /* and its number, as they are now */
	bool is_now;			   /* the frame is of a run now */
	struct hit_count count;
};

/* An instruction: hits of what was inlined there are its own. */
struct hit_address {
	uint32_t object;
	uint32_t number; /* in address_runs */
	uint64_t offset;
	struct hit_count count;
};

/* A function that has a copy of it inside. */
struct hit_host {
	const struct profile_frame *frame;
	struct hit_count count; /* of the copy */
};

struct hits {
	const struct profile *profile;
	struct hit_count all;
	struct hit_place *places;
	size_t place_count;
	struct hit_address *addresses; /* by object and offset; not those of copies */
	size_t address_count;
	struct hit_host *hosts; /* most hits first */
	size_t host_count;
	/* What of `all`, of each place and of each address is of which run, [number][run]. */
	struct hit_count *all_runs, *place_runs, *address_runs;
	size_t run_count; /* 0: no runs are compared */
};

/*
 * Of the function that frames[i] belongs to where is_function[i]; `base_runs`: so many of the
 * traces are runs before, 0: no runs are compared. ERROR_MEMORY.
 */
struct error *hits_count(struct hits *h, const struct profile *p, const bool *is_function,
			 size_t base_runs) ERROR_CHECKED;
void hits_release(struct hits *h);

#endif
