/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_ARENA_H
#define COMMON_ARENA_H

/*
 * Memory that is taken in pieces, never moves, and is given back all at once. Starts as { 0 }.
 * One thread at a time.
 */

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	size_t left;
};

void arena_release(struct arena *a);

/* Memory for anything, aligned to 8 bytes, not cleared; NULL without memory. */
void *arena_take(struct arena *a, size_t size);

/* A copy of `size` bytes with a NUL after them; NULL without memory. */
char *arena_text(struct arena *a, const char *text, size_t size);

#endif
