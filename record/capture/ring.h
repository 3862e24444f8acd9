/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_RING_H
#define RECORD_CAPTURE_RING_H

/*
 * The reading side of a BPF ring buffer, in place: ring_peek() shows the oldest record and
 * ring_next() gives its room back. libbpf's own reader hands each record to a callback at
 * once, while ours must wait until mapping records of the same time have been read. The
 * layout is that of kernel/bpf/ringbuf.c: a page with the reader's position, a page with the
 * writers', and the data twice in a row, so that no record is ever split.
 */

#include "common/buffer.h"
#include "common/error.h"

#include <stdbool.h>
#include <stdint.h>

struct ring {
	uint64_t *reader;	/* page of the reader's position */
	const uint64_t *writer; /* page of the writers' position, then the data */
	const uint8_t *data;
	uint64_t size; /* of the data: a power of two */
	uint64_t at;
	struct buffer aside; /* older records than those in the ring, see ring_set_aside() */
	size_t aside_at;     /* the first that was not read yet */
};

/* Maps the ring of `size` bytes. `map_fd` may be closed as long as the BPF object holds it. */
struct error *ring_map(struct ring *r, int map_fd, uint64_t size);
void ring_unmap(struct ring *r);

/*
 * The oldest record, valid until ring_next(); sets `size` in bytes. NULL when no record is
 * complete.
 */
const void *ring_peek(struct ring *r, uint32_t *size);
void ring_next(struct ring *r);

/*
 * Moves all complete records to the recorder's memory, so that the ring has room while they have to
 * wait. False: that would take more than `limit` bytes, or there is no memory; then all that
 * were not moved are in the ring, still. What ring_peek() returned is no longer
 * valid.
 */
bool ring_set_aside(struct ring *r, size_t limit);

/* Bytes in the ring that have not been read yet. */
uint64_t ring_filled(const struct ring *r);

#endif
