/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SCOUT_H
#define RECORD_SCOUT_H

/*
 * Runs ahead of the timeline. A sample is resolved a moment after it was taken, but the
 * kernel half needs the unwind tables of a new program before its samples are taken. So
 * the scout reads each record of the side band as soon as it is there, and tells the
 * unwinder what the targets map, and lets those be looked at that make code.
 */

#include "record/jit.h"
#include "record/sideband.h"
#include "record/space.h"
#include "record/timeline.h"
#include "record/unwinder.h"

struct scout;

/* What it asks and tells must outlive it; `jit` may be NULL. NULL without memory. */
struct scout *scout_new(struct sideband *sideband, struct unwinder *unwinder, struct jit *jit,
			bool everything);
void scout_free(struct scout *s);

/* A process that ran before, with what it has mapped. 0 or -ENOMEM. */
int scout_add(struct scout *s, uint32_t pid, const struct layout *layout);

/* Reads what is new. Only then does the timeline get to see it. */
void scout_run(struct scout *s);

#endif
