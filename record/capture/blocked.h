/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_BLOCKED_H
#define RECORD_CAPTURE_BLOCKED_H

/*
 * Waits that began before the recording or end after it: the user half of
 * bpf/blocked.bpf.c. A kernel that cannot run its programs (before Linux 5.18) records all
 * other waits.
 */

#include "common/error.h"

struct blocked;
struct sampler_bpf;

/* Call after the sampler's programs are loaded; both use the same maps. */
struct error *blocked_new(struct blocked **blocked, struct sampler_bpf *sampler);
void blocked_free(struct blocked *b);

/*
 * Before switches are seen: makes room for the waits of all targets, which is not to be allocated
 * at a switch (bpf/tasks/off_cpu.bpf.h).
 */
struct error *blocked_make_room(struct blocked *b) ERROR_CHECKED;

/* Tasks that wait now get this moment as the start of their wait. */
struct error *blocked_begin(struct blocked *b);

/* Sends a sample for each task that is still waiting. */
struct error *blocked_end(struct blocked *b);

#endif
