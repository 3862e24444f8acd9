/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_WIRE_H
#define FORMAT_WIRE_H

/*
 * The numbers of man/prf.5: magic, marker, block types, flags and limits. Only format/
 * includes this page.
 */

#include <stddef.h>
#include <stdint.h>

/* File header: magic, u16 major, u16 minor, u32 flags, u64 checksum of what precedes it. */
#define WIRE_MAGIC "\x89PRF\r\n\x1a\n"
#define WIRE_MAGIC_SIZE 8
#define WIRE_HEADER_SIZE 24

/* Block header: marker, type, flags, sequence, stored size, raw size, two checksums. */
#define WIRE_MARKER "\xf5PRB"
#define WIRE_MARKER_SIZE 4
#define WIRE_BLOCK_HEADER_SIZE 32

enum wire_type {
	WIRE_EVENTS = 1,
	WIRE_OBJECTS = 2,
	WIRE_TASKS = 3,
	WIRE_FRAMES = 4,
	WIRE_STACKS = 5,
	WIRE_SAMPLES = 6,
	WIRE_LOSSES = 7,
	WIRE_SYMBOLS = 8,
	WIRE_NAMES = 9,
	WIRE_METADATA = 10,
	WIRE_STATISTICS = 11,
	WIRE_INDEX = 12,
	WIRE_END = 13,
	WIRE_CODE = 14,
	WIRE_SOURCES = 15,
	WIRE_TYPES
};

/* Bits 0-7 change how a block is read: unknown ones are refused. Bits 8-15 may be ignored. */
#define WIRE_FLAG_ZSTD 0x0001	  /* the payload is one zstd frame */
#define WIRE_FLAG_OPTIONAL 0x0002 /* a reader that does not know the type skips the block */
#define WIRE_FLAGS_CRITICAL 0x00ff
#define WIRE_FLAGS_KNOWN (WIRE_FLAG_ZSTD | WIRE_FLAG_OPTIONAL)

/* What a trace can be read without. */
static inline int wire_is_optional(uint32_t type)
{
	return type == WIRE_INDEX || type == WIRE_CODE || type == WIRE_SOURCES;
}

/* No payload is larger than this when decompressed, nor as stored. */
#define WIRE_RAW_MAX (16u << 20)
#define WIRE_STORED_MAX (WIRE_RAW_MAX + (WIRE_RAW_MAX >> 8) + 64)

/* How much larger than its stored bytes a payload may become: see wire_raw_limit(). */
#define WIRE_RATIO_TEXT 64
#define WIRE_RATIO_COLUMNS 16
#define WIRE_RATIO_SAMPLES 256
#define WIRE_RATIO_FREE 256 /* every payload may have this many bytes, whatever the ratio */

/* Table sizes. */
#define WIRE_EVENTS_MAX (1u << 12)
#define WIRE_OBJECTS_MAX (1u << 20)
#define WIRE_TASKS_MAX (1u << 22)
#define WIRE_FRAMES_MAX (1u << 26)
#define WIRE_STACKS_MAX (1u << 26)

#define WIRE_SAMPLES_MAX (1u << 20) /* in one block */
#define WIRE_LANES_MAX (1u << 16)   /* in one block */
#define WIRE_INDEX_MAX 4096
#define WIRE_TEXT_MAX (1u << 20) /* writers cut longer text */

/* The largest raw size that a payload of this type and stored size may claim. */
static inline uint64_t wire_raw_limit(uint32_t type, uint64_t stored)
{
	uint64_t ratio = type == WIRE_FRAMES || type == WIRE_STACKS ? WIRE_RATIO_COLUMNS
			 : type == WIRE_SAMPLES			    ? WIRE_RATIO_SAMPLES
								    : WIRE_RATIO_TEXT;

	return WIRE_RATIO_FREE + stored * ratio;
}

/* The low `size` bytes of a value, little-endian, as headers have them. */
static inline void wire_put(uint8_t *at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

#endif
