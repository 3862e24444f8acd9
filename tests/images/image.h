/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_IMAGES_IMAGE_H
#define TESTS_IMAGES_IMAGE_H

/*
 * A thread of a program that a runtime runs, which stood still: its registers, the parts of its
 * memory and of the runtime's file that were read when it was sampled and its frames were named,
 * and the unwind rules that the walk asked for. Enough to do all of it again without the program
 * and the runtime. Written by make_image.c; tests/images/make calls it.
 *
 * The file is one zstd frame. Numbers are little-endian, texts end with NUL, and each list comes
 * after its length as u64:
 *
 *     u64 IMAGE_MAGIC
 *     u64 registers (KERNEL_REGISTERS of them), thread pointer
 *     u32 pid, tid
 *     u64 number of the mapping of the runtime's code
 *     mappings: u64 start, end, offset; path             executable ones, by address
 *     rules: u64 pc, u64[2] struct unwind_rule           by pc
 *     u64 size of the runtime's file
 *     its blocks: u64 number, IMAGE_BLOCK bytes          what is not there is 0
 *     blocks of memory: u64 number, IMAGE_BLOCK bytes    what is not there is not mapped
 *     moments after one more instruction each: u64 registers; blocks of memory that have changed
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cursor.h"
#include "common/map.h"
#include "tests/images/kernel_half.h"

#define IMAGE_MAGIC UINT64_C(0x316567616d697270) /* "primage1" */
#define IMAGE_BLOCK 256

struct image_mapping {
	uint64_t start, end, offset;
	const char *path;
};

struct image {
	struct kernel_thread thread;
	struct kernel_tables tables;
	struct target_memory memory;
	struct image_mapping *mappings;
	size_t mapping_count, runtime; /* the latter is one of them */
	uint8_t *file;
	size_t file_size;
	/* Of one that was read from a file. */
	uint8_t *bytes;
	size_t size;
	struct map blocks; /* number of a block -> its bytes */
	uint8_t **content; /* all blocks, those of the file first */
	size_t content_count, file_blocks;
	struct unwind_segment *segments;
	struct unwind_page *pages;
	struct unwind_rule *rules;
	uint32_t *rows;
	const uint32_t *slab;
	uint64_t reads;	       /* of memory, by both halves; the caller may reset it */
	struct cursor moments; /* those to come */
	uint64_t moment_count;
};

/*
 * The image stays where it is: it has pointers to itself. False: there is no such file, or it is
 * damaged; then nothing needs to be released.
 */
bool image_open(struct image *i, const char *path);
void image_release(struct image *i);

/* Goes on to the next moment. False: there is none. */
bool image_next(struct image *i);

/* The mapping that holds the address, or NULL. */
const struct image_mapping *image_find(const struct image *i, uint64_t address);

#endif
