/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RUNTIMES_TARGET_MEMORY_H
#define RECORD_RUNTIMES_TARGET_MEMORY_H

/*
 * Reads the memory of a process that is being recorded, while it runs: any value may be invalid and
 * may change between two reads. Tests use an image instead.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target_memory {
	/* True when all `size` bytes at `address` could be read. */
	bool (*read)(void *context, uint64_t address, void *bytes, size_t size);
	void *context;
};

/* The memory of a living process. */
struct target_memory target_memory_of(uint32_t pid);

static inline bool target_read(const struct target_memory *m, uint64_t address, void *bytes,
			       size_t size)
{
	return m->read(m->context, address, bytes, size);
}

/* A piece of the memory, and where it is to go. */
struct target_piece {
	uint64_t address;
	void *to;
	size_t size;
};

#define TARGET_PIECES_MAX 528

/*
 * True when all `n` pieces could be read, of a process by one system call if they are at most
 * TARGET_PIECES_MAX.
 */
bool target_read_all(const struct target_memory *m, const struct target_piece *pieces, size_t n);

/* Little-endian numbers; false, and 0, when they cannot be read. */
bool target_u8(const struct target_memory *m, uint64_t address, uint8_t *value);
bool target_u16(const struct target_memory *m, uint64_t address, uint16_t *value);
bool target_u32(const struct target_memory *m, uint64_t address, uint32_t *value);
bool target_u64(const struct target_memory *m, uint64_t address, uint64_t *value);

/*
 * A text that ends with NUL within `size` bytes, which include the NUL. False when there is none;
 * then `text` is "".
 */
bool target_text(const struct target_memory *m, uint64_t address, char *text, size_t size);

#endif
