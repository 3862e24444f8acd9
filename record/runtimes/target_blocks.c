/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/target_blocks.h"

#include "common/fuzzing.h"

#include <stdlib.h>
#include <string.h>

/* Bytes; no page ends within one. A fuzzer's process is in memory, where small reads are cheap. */
#define BLOCK (FUZZING ? 256 : 4096)
#define BLOCKS 64

struct block {
	uint64_t address; /* 0: nothing */
	uint8_t bytes[BLOCK];
};

struct target_blocks {
	const struct target_memory *memory;
	struct block blocks[BLOCKS];
};

struct target_blocks *target_blocks_new(const struct target_memory *memory)
{
	struct target_blocks *b = calloc(1, sizeof(*b));

	if (b)
		b->memory = memory;
	return b;
}

void target_blocks_free(struct target_blocks *b)
{
	free(b);
}

/* NULL: not all of it can be read. */
static const uint8_t *block_at(struct target_blocks *b, uint64_t address)
{
	struct block *block = &b->blocks[address / BLOCK % BLOCKS];

	if (!address)
		return NULL;
	if (block->address != address)
		block->address = target_read(b->memory, address, block->bytes, BLOCK) ? address : 0;
	return block->address ? block->bytes : NULL;
}

static bool read_blocks(void *context, uint64_t address, void *to, size_t size)
{
	struct target_blocks *b = context;
	uint64_t at = address % BLOCK;
	const uint8_t *block = at + size <= BLOCK ? block_at(b, address - at) : NULL;

	if (!block)
		return target_read(b->memory, address, to, size);
	memcpy(to, block + at, size);
	return true;
}

struct target_memory target_blocks_memory(struct target_blocks *b)
{
	return (struct target_memory){ read_blocks, b };
}

void target_blocks_empty(struct target_blocks *b)
{
	for (size_t i = 0; i < BLOCKS; i++)
		b->blocks[i].address = 0;
}
