/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTDATA_MEMORY_IMAGE_H
#define TESTDATA_MEMORY_IMAGE_H

/*
 * The parts of a Java process's memory that were looked at, and what they came to: enough to do
 * it again without the process, or a JDK. Written by testdata/hotspot_image.c, read by the tests.
 *
 * A zstd frame of: bias and exports (struct hotspot), then frames, then granules, each
 * list preceded by its count as u64. Numbers are little-endian.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "common/buffer.h"
#include "common/cursor.h"
#include "common/map.h"
#include "record/java/hotspot_names.h"

#define GRANULE 64
#define GRANULES_KEPT 1024

struct memory_image_frame {
	struct script_frame frame;
	bool exact;
	const char *expected; /* its places as text; "" for none */
};

/* Starts as { 0 }. */
struct memory_image {
	struct hotspot_exports exports;
	uint64_t bias;
	struct memory_image_frame *frames;
	size_t frame_count;
	struct map granules; /* number of a granule -> its bytes */
	struct {
		uint64_t number;
		const uint8_t *bytes; /* NULL: it is not there */
		bool known;
	} asked[GRANULES_KEPT]; /* for lately, each by its number */
	uint8_t *bytes;		/* all of it, unpacked */
	size_t size;
};

/* NULL: there is none. */
static inline const uint8_t *memory_image_granule(struct memory_image *image, uint64_t number)
{
	size_t at = number % GRANULES_KEPT;
	const uint64_t *value;

	if (image->asked[at].known && image->asked[at].number == number)
		return image->asked[at].bytes;
	value = map_get(&image->granules, &number, sizeof(number));
	image->asked[at].known = true;
	image->asked[at].number = number;
	image->asked[at].bytes = value ? (const uint8_t *)(uintptr_t)*value : NULL;
	return image->asked[at].bytes;
}

static inline bool memory_image_read(void *context, uint64_t address, void *to, size_t size)
{
	uint8_t *bytes = to;

	while (size) {
		uint64_t at = address % GRANULE;
		const uint8_t *granule = memory_image_granule(context, address / GRANULE);
		size_t n = GRANULE - at < size ? GRANULE - at : size;

		if (!granule)
			return false;
		memcpy(bytes, granule + at, n);
		bytes += n;
		address += n;
		size -= n;
	}
	return true;
}

/* The places as one line of text. */
static inline void memory_image_describe(struct buffer *b, const struct prf_place *places, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buffer_printf(b, "%s%s (%s:%u, %u)", i ? " < " : "", places[i].function,
			      places[i].file, places[i].line, places[i].start_line);
}

static inline void memory_image_release(struct memory_image *image)
{
	map_release(&image->granules);
	free(image->frames);
	free(image->bytes);
	*image = (struct memory_image){ 0 };
}

static inline bool memory_image_parse(struct memory_image *image, size_t size)
{
	struct cursor c = cursor_over(image->bytes, size);

	image->bias = cursor_u64(&c);
	for (size_t i = 0; i < HOTSPOT_EXPORTS; i++)
		image->exports.addresses[i] = cursor_u64(&c);
	image->frame_count = cursor_u64(&c);
	if (!cursor_ok(&c) || image->frame_count > 65536)
		return false;
	image->frames = calloc(image->frame_count, sizeof(*image->frames));
	for (size_t i = 0; i < image->frame_count && image->frames; i++) {
		image->frames[i].frame.code = cursor_u64(&c);
		image->frames[i].frame.position = cursor_u64(&c);
		image->frames[i].exact = cursor_u8(&c);
		image->frames[i].expected = cursor_string(&c);
	}
	for (uint64_t n = cursor_u64(&c); n && cursor_ok(&c); n--) {
		uint64_t number = cursor_u64(&c), *value;
		const uint8_t *bytes = cursor_bytes(&c, GRANULE);

		value = map_put(&image->granules, &number, sizeof(number), NULL);
		if (value)
			*value = (uintptr_t)bytes;
	}
	return cursor_ok(&c) && !cursor_left(&c);
}

/* False: there is no such file, or it is damaged. */
static inline bool memory_image_open(struct memory_image *image, const char *path)
{
	uint8_t packed[1 << 20];
	FILE *file = fopen(path, "rb");
	size_t n = file ? fread(packed, 1, sizeof(packed), file) : 0;
	unsigned long long size = ZSTD_getFrameContentSize(packed, n);

	*image = (struct memory_image){ 0 };
	if (file)
		fclose(file);
	if (!n || size > 64 << 20)
		return false;
	image->bytes = malloc(size);
	image->size = size;
	return image->bytes && ZSTD_decompress(image->bytes, size, packed, n) == size &&
	       memory_image_parse(image, size);
}

#endif
