/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_DESCRIBE_H
#define REPORT_MERGE_DESCRIBE_H

/* The parts of a profile that describe the recording: events, traces, losses. */

#include "report/profile/profile.h"
#include "report/profile/tally.h"
#include "report/profile/trace.h"

/* What the profile points to. Starts as { 0 }. */
struct described {
	struct profile_event *events;
	struct profile_loss *losses;
	struct profile_trace *traces;
	struct profile_label *labels; /* of all traces */
	/*
	 * How many samples of CPU time there would be for each one that there is, had none been
	 * lost: at least 1. Of each trace; where groups do not distinguish them, of all.
	 */
	double *samples_per_sample;
};

void described_release(struct described *d);

/* Fills the profile's events. ERROR_MEMORY. */
struct error *describe_events(struct described *d, struct profile *profile,
			      const struct tally *tally) ERROR_CHECKED;

/*
 * Fills its losses, lost and traces, after its events and dimensions, and samples_per_sample: lost
 * samples were CPU time, too. ERROR_MEMORY.
 */
struct error *describe_traces(struct described *d, struct profile *profile,
			      const struct trace *traces, size_t trace_count) ERROR_CHECKED;

#endif
