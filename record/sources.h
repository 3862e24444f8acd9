/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SOURCES_H
#define RECORD_SOURCES_H

/*
 * Where records come from: the sampler and the side band, each with a ring for each CPU or more,
 * and the CPUs that they run on.
 */

#include "common/error.h"
#include "record/capture/sampler.h"
#include "record/capture/sideband.h"
#include "record/hotplug.h"

/* Starts as { .hotplug.cpus = &.cpus }. */
struct sources {
	struct cpus cpus;    /* those that were online when the recording began */
	struct cpus sampled; /* those of them to sample on */
	struct hotplug hotplug;
	struct sideband *sideband;
	struct sampler *sampler;
	uint64_t ring_bytes;	   /* of each of the sampler's rings */
	uint64_t ring_waited_most; /* bytes that waited in the fullest of them, so far */
};

void sources_release(struct sources *s);

/* Measures how full the rings are now: the fullest one, in percent. */
unsigned int sources_measure_rings(struct sources *s);

/*
 * Looks which CPUs went offline or came back, which the user is warned of. Sets `*came_back` when
 * one did: what happened there meanwhile is not known.
 */
struct error *sources_look_at_cpus(struct sources *s, const struct event_list *events,
				   bool *came_back);

#endif
