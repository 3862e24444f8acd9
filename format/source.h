/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_SOURCE_H
#define FORMAT_SOURCE_H

/*
 * Bytes to read forwards, from memory, a file or a pipe: a window that is filled as far as it is
 * asked for and no further, so that a reader of a pipe does not wait for bytes that it does not
 * need yet.
 */

#include <stdbool.h>

#include "common/buffer.h"
#include "common/error.h"

struct source {
	int fd; /* -1: memory */
	const uint8_t *memory;
	size_t memory_size;
	struct buffer window;
	size_t at;	 /* in the window, or in memory */
	uint64_t offset; /* from the start of the trace */
	bool end;	 /* nothing after the window */
	bool seekable;	 /* a regular file */
	uint64_t start;	 /* where the trace starts in it */
	bool grows;	 /* after its end more may come, which is not waited for */
};

void source_init_fd(struct source *s, int fd);
void source_init_memory(struct source *s, const void *data, size_t size);
void source_release(struct source *s);

/*
 * The bytes ahead, at least `wanted` unless the source ends before; `got` says how many. They stay
 * until the next call. Memory is taken only for bytes that are there. ERROR_SYSTEM or _MEMORY.
 */
struct error *source_peek(struct source *s, size_t wanted, const uint8_t **bytes,
			  size_t *got) ERROR_CHECKED;

/* Goes on by bytes that were peeked at. */
void source_advance(struct source *s, size_t size);

/*
 * Goes on by `size` bytes, without reading them where that is possible; `skipped` is less when the
 * source ends before. ERROR_SYSTEM or _MEMORY.
 */
struct error *source_skip(struct source *s, uint64_t size, uint64_t *skipped) ERROR_CHECKED;

/* For sources with an end that can be known beforehand. */
bool source_size(const struct source *s, uint64_t *size);
/* `size` bytes at an offset from the start; false when they cannot be read. */
bool source_read_at(const struct source *s, uint64_t offset, void *bytes, size_t size);

#endif
