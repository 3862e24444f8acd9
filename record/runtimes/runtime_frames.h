/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RUNTIMES_RUNTIME_FRAMES_H
#define RECORD_RUNTIMES_RUNTIME_FRAMES_H

/*
 * Frames of code that a runtime has made or interprets: they carry their names in the trace. Those
 * of equal names are one frame, in whatever process, as long as their names take no more memory
 * than LIMIT_RUNTIME_FRAMES_BYTES: then all are forgotten, and those that come again are defined
 * again.
 */

#include "common/error.h"
#include "common/map.h"
#include "format/prf.h"

/* Starts as { 0 }. */
struct runtime_frames {
	struct prf_writer *writer;
	struct map numbers; /* object and places as text -> number in the trace */
	uint64_t defined;   /* in this trace */
	size_t bytes;	    /* of the keys in `numbers` */
};

/* The places of one frame, inlined ones first. */
struct runtime_places {
	const struct prf_place *places;
	size_t n;
};

void runtime_frames_release(struct runtime_frames *f);

/* Frames go there from now on; numbers of the last trace mean nothing in this one. */
void runtime_frames_begin(struct runtime_frames *f, struct prf_writer *w);

/* The trace's number of the frame; `object`: what it belongs to, as "[java]". */
struct error *runtime_frames_find(struct runtime_frames *f, const char *object,
				  const struct runtime_places *places, uint32_t *id) ERROR_CHECKED;

#endif
