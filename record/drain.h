/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_DRAIN_H
#define RECORD_DRAIN_H

/*
 * The path of a sample: drain -> resolve -> write. Records of all rings are taken in order of time.
 * A record of the side band changes the world; a sample is resolved against the world of that
 * moment, and written.
 */

#include "record/capture/timeline.h"
#include "record/losses.h"
#include "record/sources.h"
#include "record/spaces/world.h"
#include "record/trace/resolver.h"
#include "record/trace/trace_file.h"
#include "record/unwind/late_walk.h"
#include "record/unwinding.h"

struct drain {
	struct sources *sources;
	struct world *world;
	struct jit *jit;
	struct unwinding *unwinding;
	struct resolver *resolver;
	struct trace_file *trace;
	struct losses *losses;
	const struct event_list *events;

	struct timeline timeline;
	struct late_walk late;
	bool refresh;	    /* records of the side band were lost since /proc was last read */
	uint64_t silent;    /* as spaces_silent(), when that was last looked at */
	uint64_t again_ns;  /* when silent processes are to be read again; 0: there are none */
	uint64_t pause_ns;  /* until then: longer each time */
	uint64_t malformed; /* records that break the rules of their layout */
};

/* Adds the rings to the timeline; the parts above must be set. Release it even after an error. */
struct error *drain_init(struct drain *d);
void drain_release(struct drain *d);

/* Processes all records in the rings up to a time. */
struct error *drain_until(struct drain *d, uint64_t horizon_ns);

/*
 * Since when samples have been held back for tables of code that was just mapped; UINT64_MAX: none
 * are, or they have been for long enough.
 */
uint64_t drain_holds_since(const struct drain *d, uint64_t now_ns);

/*
 * One round of the recording: writes what has been in the rings for a moment, and keeps the
 * file up to date to a second. `wait_ms` is the time waited before it, and is set to the time to
 * wait until the next round, by how full the rings were.
 */
struct error *drain_round(struct drain *d, uint64_t now_ns, int *wait_ms);

/* The work that is due about once a second: losses, CPUs and names. */
struct error *drain_settle(struct drain *d, uint64_t now_ns);

#endif
