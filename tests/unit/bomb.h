/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_BOMB_H
#define TESTS_UNIT_BOMB_H

/*
 * Some kilobytes that unpack to gigabytes: `times` copies of one chunk, which is packed once. They
 * are whole: a reader without limits unpacks all of it.
 */

#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "common/buffer.h"
#include "tests/unit/unit.h"

#define BOMB_CHUNK (3u << 18)
#define BOMB_ROOM (1u << 17) /* for a packed chunk */
#define BOMB_TIMES 2048	     /* 1.5 GiB */

/* `pattern`, whose size divides BOMB_CHUNK, again and again. */
static inline uint8_t *bomb_chunk(const void *pattern, size_t size)
{
	uint8_t *chunk = malloc(BOMB_CHUNK);

	assert_non_null(chunk);
	assert_int_equal(BOMB_CHUNK % size, 0);
	for (size_t i = 0; i < BOMB_CHUNK; i += size)
		memcpy(chunk + i, pattern, size);
	return chunk;
}

static inline void bomb_repeat(struct buffer *b, const void *packed, size_t size, size_t times)
{
	for (size_t i = 0; i < times; i++)
		buffer_append(b, packed, size);
	assert_true(buffer_ok(b));
}

static inline void bomb_zlib(struct buffer *b, const void *pattern, size_t size, size_t times)
{
	uint8_t *chunk = bomb_chunk(pattern, size), *packed = malloc(BOMB_ROOM), sum[4];
	z_stream z = {
		.next_in = chunk, .avail_in = BOMB_CHUNK, .next_out = packed, .avail_out = BOMB_ROOM
	};
	uLong one = adler32(1, chunk, BOMB_CHUNK), all = 1;

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
	/* What follows a full flush needs nothing of what was before it. */
	assert_int_equal(deflate(&z, Z_FULL_FLUSH), Z_OK);
	assert_int_equal(z.avail_in, 0);
	buffer_append(b, "\x78\x01", 2);
	bomb_repeat(b, packed, BOMB_ROOM - z.avail_out, times);
	buffer_append(b, "\x03", 2); /* the last block, without content */
	for (size_t i = 0; i < times; i++)
		all = adler32_combine(all, one, BOMB_CHUNK);
	for (int i = 0; i < 4; i++)
		sum[i] = (uint8_t)(all >> (24 - 8 * i));
	buffer_append(b, sum, sizeof(sum));
	deflateEnd(&z);
	free(packed);
	free(chunk);
}

/* Frames one after another, and after them one of `padding` bytes which unpacks to nothing. */
static inline void bomb_zstd(struct buffer *b, const void *pattern, size_t size, size_t times,
			     uint32_t padding)
{
	uint8_t *chunk = bomb_chunk(pattern, size), *packed = malloc(BOMB_ROOM);
	const uint32_t skippable[] = { 0x184d2a50, padding };
	size_t n = ZSTD_compress(packed, BOMB_ROOM, chunk, BOMB_CHUNK, 19);

	assert_false(ZSTD_isError(n));
	bomb_repeat(b, packed, n, times);
	buffer_append(b, skippable, sizeof(skippable));
	memset(buffer_extend(b, padding), 0, padding);
	free(packed);
	free(chunk);
}

/* One stream of many blocks: that what follows a first stream is not read would not stop it. */
static inline void bomb_xz(struct buffer *b, const void *pattern, size_t size, size_t times)
{
	uint8_t *chunk = bomb_chunk(pattern, size), *packed = malloc(BOMB_ROOM);
	lzma_options_lzma options;
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &options }, { LZMA_VLI_UNKNOWN, NULL } };
	lzma_block block = { .check = LZMA_CHECK_CRC32, .filters = filters };
	lzma_stream_flags flags = { .check = LZMA_CHECK_CRC32 };
	lzma_index *index = lzma_index_init(NULL);
	size_t n = 0;

	assert_false(lzma_lzma_preset(&options, 0));
	assert_int_equal(lzma_stream_header_encode(&flags, packed), LZMA_OK);
	buffer_append(b, packed, LZMA_STREAM_HEADER_SIZE);
	assert_int_equal(
		lzma_block_buffer_encode(&block, NULL, chunk, BOMB_CHUNK, packed, &n, BOMB_ROOM),
		LZMA_OK);
	bomb_repeat(b, packed, n, times);
	for (size_t i = 0; i < times; i++)
		assert_int_equal(lzma_index_append(index, NULL, lzma_block_unpadded_size(&block),
						   BOMB_CHUNK),
				 LZMA_OK);
	flags.backward_size = lzma_index_size(index);
	n = 0;
	assert_int_equal(lzma_index_buffer_encode(index, packed, &n, BOMB_ROOM), LZMA_OK);
	buffer_append(b, packed, n);
	assert_int_equal(lzma_stream_footer_encode(&flags, packed), LZMA_OK);
	buffer_append(b, packed, LZMA_STREAM_HEADER_SIZE);
	lzma_index_end(index, NULL);
	free(packed);
	free(chunk);
}

/* How much memory `refuses` takes, in KiB, in a process of its own. It must return true. */
static inline long bomb_memory(bool (*refuses)(void *context), void *context)
{
	struct rusage usage;
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(!refuses || refuses(context) ? 0 : 1);
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_int_equal(status, 0);
	return usage.ru_maxrss;
}

/* ... more than a process that does nothing. */
static inline long bomb_memory_more(bool (*refuses)(void *context), void *context)
{
	long none = bomb_memory(NULL, NULL);

	return bomb_memory(refuses, context) - none;
}

#endif
