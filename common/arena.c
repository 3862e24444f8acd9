/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/arena.h"

#include "common/fuzzing.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * What is left of a chunk when the next one is begun is lost: little, as most pieces are small.
 * For a fuzzer each piece is a chunk of its own, so that what is written beyond it is seen.
 */
#define CHUNK_BYTES (FUZZING ? 8 : 64 * 1024)

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	_Alignas(8) uint8_t data[];
};

void arena_release(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
	a->left = 0;
}

void *arena_take(struct arena *a, size_t size)
{
	if (size > SIZE_MAX / 2)
		return NULL;
	size = size ? (size + 7) & ~(size_t)7 : 8;
	if (size > a->left) {
		size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
		struct arena_chunk *chunk = malloc(sizeof(*chunk) + room);

		if (!chunk)
			return NULL;
		chunk->size = room;
		chunk->next = a->chunks;
		a->chunks = chunk;
		a->left = room;
	}
	a->left -= size;
	return a->chunks->data + (a->chunks->size - a->left - size);
}

char *arena_text(struct arena *a, const char *text, size_t size)
{
	char *copy = size < SIZE_MAX ? arena_take(a, size + 1) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, text, size);
	copy[size] = 0;
	return copy;
}
