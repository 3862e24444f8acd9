/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_PAYLOAD_H
#define FORMAT_PAYLOAD_H

/*
 * A payload on its way into a block: its raw bytes, and where the planes of its columns begin
 * and end in them. zstd has one table of byte frequencies for each of its own blocks; the planes
 * differ so much that each gets a table of its own. A reader needs to know nothing of this.
 *
 * Starts as { 0 }.
 */

#include "common/buffer.h"

#define PLANE_BOUNDS_MAX 128

struct payload {
	uint16_t type; /* enum wire_type */
	struct buffer raw;
	size_t plane_bounds[PLANE_BOUNDS_MAX]; /* ascending offsets, each above 0 */
	size_t plane_bound_count;
	uint64_t samples, from_ns, to_ns; /* of a block of samples */
};

void payload_release(struct payload *p);

/* Forgets the bytes, keeps their memory. */
void payload_clear(struct payload *p);

/* Notes that the last bytes are `planes` planes of `n` bytes each. */
void payload_note_planes(struct payload *p, size_t n, size_t planes);

#endif
