/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_TIMELINE_H
#define RECORD_CAPTURE_TIMELINE_H

/*
 * Puts records of several rings into one order of time, so that a sample is resolved after
 * the mappings of its time are known and before later ones are. Rings are read in place:
 * what is later than the horizon just stays where it is until the next run.
 */

#include "common/error.h"

#include <stddef.h>

struct timeline_source {
	/* Time of the oldest record in ns, UINT64_MAX for none. */
	uint64_t (*peek)(void *context, size_t number);
	/* Processes the oldest record and removes it. An error ends the run. */
	struct error *(*take)(void *context, size_t number);
	void *context;
	size_t number;
};

struct timeline {
	struct timeline_source *sources;
	size_t n, capacity;
};

void timeline_release(struct timeline *t);

/*
 * Adds a source; it is copied. Of two records of the same time, that of the source added first
 * comes first.
 */
struct error *timeline_add(struct timeline *t, const struct timeline_source *source);

/*
 * Takes all records up to and including `horizon_ns`, which is not in the future as long as sources
 * get new records: their order would be wrong. NULL, or the error of take().
 */
struct error *timeline_run(struct timeline *t, uint64_t horizon_ns);

/*
 * Takes all records that there are now. Those that come meanwhile wait for the next run: a program
 * may make them as fast as they are taken. NULL, or the error of take().
 */
struct error *timeline_run_all(struct timeline *t);

#endif
