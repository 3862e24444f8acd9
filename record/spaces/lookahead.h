/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_LOOKAHEAD_H
#define RECORD_SPACES_LOOKAHEAD_H

/*
 * The newest address spaces. A sample is resolved a moment after it was taken, but the kernel half
 * needs the unwind tables of a new program before its samples are taken. So the lookahead reads
 * each record of the side band as soon as it arrives, without removing it from the ring, and
 * applies it to spaces of its own. Modules that prepare the kernel half for samples to come listen
 * to those (spaces_listen()).
 */

#include "record/capture/sideband.h"
#include "record/spaces/space.h"

struct lookahead;

/*
 * The side band and the objects must outlive it. `everything`: follow all processes. NULL without
 * memory.
 */
struct lookahead *lookahead_new(struct sideband *sideband, struct objects *objects,
				bool everything);
void lookahead_free(struct lookahead *s);

/* What is mapped according to the newest records. Valid until lookahead_free(). */
struct spaces *lookahead_spaces(struct lookahead *s);

/* Adds a process that ran before the recording, with what it has mapped in these spaces. */
struct error *lookahead_add(struct lookahead *s, uint32_t pid, const struct spaces *spaces);

/* How many records of processes that are followed have been applied. */
uint64_t lookahead_followed(const struct lookahead *s);

/* Applies the new records. sideband_take() returns a record only after this has read it. */
struct error *lookahead_run(struct lookahead *s);

/* Records were lost: the next run looks which processes have ended. */
void lookahead_look_at_all(struct lookahead *s);

#endif
