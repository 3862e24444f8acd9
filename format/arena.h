/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_ARENA_H
#define FORMAT_ARENA_H

/* Memory that is taken in small pieces, never moves, and is given back all at once. Starts as { 0 }. */

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunks;
	size_t used, size; /* of the first chunk */
};

/* `size` bytes, aligned for any struct and zeroed; NULL without memory. */
void *prf_arena_take(struct arena *a, size_t size);

/* A copy of `size` bytes with a NUL behind them. */
const char *prf_arena_text(struct arena *a, const char *text, size_t size);

void prf_arena_release(struct arena *a);

#endif
