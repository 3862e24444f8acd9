/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_COMPRESSOR_H
#define FORMAT_COMPRESSOR_H

/*
 * The way out of a writer: payloads become blocks, in order, and go to a file descriptor or
 * into memory. With a thread, the caller waits only when it is several blocks ahead.
 */

#include "format/index.h"
#include "format/payload.h"
#include "format/prf.h"

struct compressor;

/* Writes the file header at once. */
struct error *compressor_new(struct compressor **compressor,
			     const struct prf_writer_options *options) ERROR_CHECKED;

/* What is still queued is written; errors are no longer reported. */
void compressor_free(struct compressor *c);

/*
 * Takes the bytes of `payload` and leaves an empty one with memory for the next. An
 * error, of this block or an earlier one, comes again with every further call.
 */
struct error *compressor_put(struct compressor *c, struct payload *payload) ERROR_CHECKED;

/* Waits until all is written. */
struct error *compressor_drain(struct compressor *c) ERROR_CHECKED;

/* Drains, then writes the index and the end block. */
struct error *compressor_finish(struct compressor *c) ERROR_CHECKED;

void compressor_totals(struct compressor *c, uint64_t *file_bytes, uint64_t *raw_bytes);

/* After a drain: the bytes in memory. */
const void *compressor_memory(struct compressor *c, size_t *size);

#endif
