/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_BUILD_H
#define REPORT_MERGE_BUILD_H

/*
 * Makes a profile out of what was read: names the frames of the stacks that were counted,
 * shapes the stacks, joins what shows the same, and sorts.
 */

#include "report/merge/joined.h"
#include "report/profile/profile.h"
#include "report/merge/shape.h"
#include "report/profile/tally.h"
#include "report/profile/trace.h"
#include "report/symbols/symbolizer.h"

struct build_options {
	struct tally *tally;
	struct trace *traces; /* in the order in which the tally got them */
	size_t trace_count;
	struct joined *joined;	       /* to which each trace was added; NULL: there is one trace */
	struct symbolizer *symbolizer; /* not run yet */
	const struct shape *shape;
	unsigned int dimensions;      /* enum profile_dimension */
	const char *const *note_keys; /* PROFILE_NOTES; may be NULL without PROFILE_BY_NOTES */
	unsigned int detail;	      /* enum profile_detail */
	enum profile_value value;
	bool again;	    /* the same traces are built again when they have grown */
	bool forgets;	    /* nothing asks for the tally's cells once there are entries */
	bool latency;	    /* PROFILE_TIME divided by how many threads ran: see tally_options */
	double min_percent; /* cut stacks where less than this passes; 0: nowhere */
	const unsigned int *leading; /* frames before all stacks, as label_frames_add() wants them;
					NULL: none */
};

/* All of the options' things must stay as long as the profile. */
struct error *profile_build(struct profile **profile,
			    const struct build_options *options) ERROR_CHECKED;
void profile_free(struct profile *p);

/*
 * The node of a stack, by its number in the trace or in what is joined, in a profile that was built
 * with the option; PRF_NONE where it shows nothing. `*kept` is false when the stack does not count.
 */
uint32_t profile_node_of(const struct profile *p, uint32_t stack, bool *kept);

#endif
