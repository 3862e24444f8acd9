/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_DRAIN_H
#define RECORD_DRAIN_H

#include "record/recording.h"

/* Puts the rings into the timeline. 0 or -ENOMEM. */
int drain_init(struct session *s);

/* Writes all that is in the rings up to a time. 0 or -errno. */
int drain_until(struct session *s, uint64_t horizon_ns);

/*
 * One round of the recording: writes what has been in the rings for a moment, and keeps the
 * file up to date to a second. `wait_ms` is how long it was waited before; it gets how long
 * to wait until the next round, judging by how full the rings were.
 */
int drain_round(struct session *s, uint64_t now_ns, int *wait_ms);

/* What is due about once a second: losses and names. */
int drain_settle(struct session *s, uint64_t now_ns);

#endif
