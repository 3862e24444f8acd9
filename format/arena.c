/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/arena.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK ((size_t)64 << 10)

struct arena_chunk {
	struct arena_chunk *next;
	max_align_t bytes[];
};

static void *take(struct arena *a, size_t size)
{
	struct arena_chunk *chunk = a->chunks;
	size_t wanted = size > CHUNK / 4 ? size : CHUNK;
	void *at;

	if (chunk && size <= a->size - a->used) {
		at = (char *)chunk->bytes + a->used;
		a->used += size;
		return at;
	}
	chunk = malloc(sizeof(*chunk) + wanted);
	if (!chunk)
		return NULL;
	if (wanted != CHUNK && a->chunks) {
		/* A large piece gets a chunk of its own, behind the one that has room left. */
		chunk->next = a->chunks->next;
		a->chunks->next = chunk;
		return chunk->bytes;
	}
	chunk->next = a->chunks;
	*a = (struct arena){ .chunks = chunk, .used = size, .size = wanted };
	return chunk->bytes;
}

void *prf_arena_take(struct arena *a, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	void *at;

	a->used = (a->used + align - 1) & ~(align - 1);
	if (a->used > a->size)
		a->used = a->size;
	at = take(a, size);
	return at ? memset(at, 0, size) : NULL;
}

const char *prf_arena_text(struct arena *a, const char *text, size_t size)
{
	char *at;

	if (!size)
		return "";
	at = take(a, size + 1);
	if (!at)
		return NULL;
	memcpy(at, text, size);
	at[size] = 0;
	return at;
}

void prf_arena_release(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
	*a = (struct arena){ 0 };
}
