/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_LOOKAHEAD_H
#define RECORD_LOOKAHEAD_H

/*
 * Runs ahead of the timeline. A sample is resolved a moment after it was taken, but the
 * kernel half needs the unwind tables of a new program before its samples are taken. So
 * the lookahead reads each record of the side band as soon as it is there, and tells the
 * unwinder what the targets map, and lets those be looked at that make code.
 */

#include "record/capture/sideband.h"
#include "record/capture/timeline.h"
#include "record/runtimes/java.h"
#include "record/spaces/space.h"
#include "record/symbols/jit.h"
#include "record/unwind/unwinder.h"

struct lookahead;

/* What it asks and tells must outlive it; `jit` may be NULL. NULL without memory. */
struct lookahead *lookahead_new(struct sideband *sideband, struct unwinder *unwinder,
				struct jit *jit, bool everything);
void lookahead_free(struct lookahead *s);

/* Has the Java processes among the targets reported, from here on. */
void lookahead_follow_java(struct lookahead *s, struct java *java);

/* A process that ran before, with what it has mapped. 0 or -ENOMEM. */
int lookahead_add(struct lookahead *s, uint32_t pid, const struct layout *layout);

/* Reads what is new. Only then does the timeline get to see it. */
void lookahead_run(struct lookahead *s);

#endif
