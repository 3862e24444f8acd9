/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWINDING_H
#define RECORD_UNWINDING_H

/*
 * The unwinder's part of a recording: it is opened with what the targets have mapped, fed by
 * the lookahead, and accounted for at the end.
 */

#include "record/recording.h"

/* When user stacks are walked by tables. 0, or the exit status after telling what is wrong. */
int unwinding_open(struct session *s);

/* Waits a little for the tables of what runs, or will be started, so that no sample lacks them. */
void unwinding_prepare(struct session *s);

/* What the tables came to, for the trace and the user. 0 or -errno. */
int unwinding_finish(struct session *s);

void unwinding_close(struct session *s);

#endif
