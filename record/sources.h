/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SOURCES_H
#define RECORD_SOURCES_H

/*
 * The sources of records: the sampler with its rings, the side band with a ring for each CPU, and
 * the CPUs that they run on.
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

/*
 * Fill level of the fullest of the sampler's and the side band's rings, in percent. Updates
 * `ring_waited_most`.
 */
unsigned int sources_measure_rings(struct sources *s);

/*
 * Makes room in the sampler's rings for more samples, while those that are there have to wait.
 * False: there is no more room to be had, in the side band's rings neither.
 */
bool sources_set_aside(struct sources *s);

/*
 * Checks which CPUs went offline or came back, and warns the user. Sets `*came_back` when one came
 * back: what was mapped there meanwhile is unknown.
 */
struct error *sources_look_at_cpus(struct sources *s, const struct event_list *events,
				   bool *came_back);

#endif
