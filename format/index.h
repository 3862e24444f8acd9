/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_INDEX_H
#define FORMAT_INDEX_H

/*
 * The time index and the end (prf.5, "Index" and "End"). The index divides the trace into at most
 * WIRE_INDEX_MAX spans of blocks and says between which times the samples of each lie;
 * when there are more, neighbours are joined.
 */

#include <stdbool.h>

#include "common/buffer.h"
#include "common/cursor.h"
#include "common/error.h"
#include "format/wire.h"

struct index_span {
	uint64_t offset;	 /* of the first block; it reaches up to the next span */
	uint64_t from_ns, to_ns; /* first and last time in it */
};

struct index {
	struct index_span *spans;
	size_t count;
	size_t blocks_per_span; /* 0 counts as 1 */
	size_t blocks;		/* in the last span */
};

void index_release(struct index *index);

/* A block of samples. False without memory. */
bool index_add(struct index *index, uint64_t offset, uint64_t from_ns, uint64_t to_ns);

void index_encode(struct buffer *out, const struct index *index);

/* ERROR_CORRUPT or _MEMORY; the index is empty then. */
struct error *index_decode(struct index *index, struct cursor *c) ERROR_CHECKED;

/* Whether a block of samples at this offset may hold times with from <= time < to. */
bool index_wants(const struct index *index, uint64_t offset, uint64_t from_ns, uint64_t to_ns);

/* The payload of the end block, which is never compressed. */
#define END_SIZE 24

struct end {
	uint64_t index_offset; /* 0: no index */
	uint64_t blocks;       /* with the end block */
	uint64_t samples;
};

void end_encode(struct buffer *out, const struct end *end);
bool end_decode(struct cursor *c, struct end *end);

#endif
