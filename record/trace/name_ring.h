/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_TRACE_NAME_RING_H
#define RECORD_TRACE_NAME_RING_H

/*
 * The ring in which the kernel half sends the names of code that it sees for the first time, before
 * the sample that it sees it in.
 */

#include "record/capture/ring.h"

struct javascript;
struct scripts;

struct name_ring {
	struct ring *ring;
	struct scripts *scripts;
	struct javascript *javascript;
};

/* Takes all records that have come. */
void name_ring_read(const struct name_ring *r);

#endif
