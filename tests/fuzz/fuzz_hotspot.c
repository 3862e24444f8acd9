/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/java/hotspot_names.h"

#include "common/limits.h"
#include "testdata/memory_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define IMAGES 5
#define GROUPS 16	 /* of frames, one of which is named */
#define TABLES_FROM 0xe0 /* first bytes from here on */

static struct shares java_bytes = { .limit = LIMIT_JAVA_TOTAL_BYTES };

static struct memory_image *image_of(unsigned int number)
{
	static const char *const paths[IMAGES] = {
		"testdata/hotspot-17.image", "testdata/hotspot-25.image",
		"testdata/hotspot-8.image", "testdata/hotspot-11.image", "testdata/hotspot-27.image"
	};
	static struct memory_image images[IMAGES]; /* unpacked once */
	struct memory_image *image = &images[number % IMAGES];

	if (!image->bytes && !memory_image_open(image, paths[number % IMAGES]))
		__builtin_trap();
	return image;
}

/* A byte of the image; the numbers of its granules were taken from there when it was opened. */
static uint8_t *byte_at(const struct memory_image *image, const uint8_t *change)
{
	uint32_t at = (uint32_t)change[0] | (uint32_t)change[1] << 8 | (uint32_t)change[2] << 16;

	return &image->bytes[image->size - 1 - at % (image->size / 2)];
}

static bool attach(struct memory_image *image, struct hotspot *h)
{
	const char *why;

	*h = (struct hotspot){ .memory = { memory_image_read, image },
			       .bias = image->bias,
			       .exports = image->exports };
	return hotspot_attach(h, &why) == HOTSPOT_READY;
}

static void name_group(struct memory_image *image, const struct hotspot *h, size_t group)
{
	struct prf_place places[HOTSPOT_INLINED_MAX];
	struct hotspot_names *names = hotspot_names_new(h, &java_bytes, 0);

	for (size_t i = group; names && i < image->frame_count; i += GROUPS)
		hotspot_names_find(names, &image->frames[i].frame, image->frames[i].exact, places);
	hotspot_names_free(names);
}

/*
 * A Java machine whose memory has other bytes in some places: which machine, then a list of
 * positions (u24, counted from the end) and values. Whatever comes out, it ends. To read its
 * tables is most of the work: they are read with the changes for some inputs only, by the first
 * byte, and for the others without them, once. It also says which of the frames are named.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hotspot intact[IMAGES];
	static bool attached[IMAGES];
	unsigned int number = size ? data[0] % IMAGES : 0;
	size_t group = size ? data[0] / IMAGES % GROUPS : 0;
	bool tables = size && data[0] >= TABLES_FROM;
	struct memory_image *image = image_of(number);
	struct hotspot changed;
	size_t n = size ? (size - 1) / 4 : 0;
	uint8_t *before = malloc(n + 1);

	if (!attached[number] && !attach(image, &intact[number]))
		__builtin_trap();
	attached[number] = true;
	for (size_t i = 0; before && i < n; i++) {
		before[i] = *byte_at(image, data + 1 + 4 * i);
		*byte_at(image, data + 1 + 4 * i) = data[4 + 4 * i];
	}
	if (!tables)
		name_group(image, &intact[number], group);
	else if (attach(image, &changed))
		name_group(image, &changed, group);
	for (size_t i = n; before && i-- > 0;)
		*byte_at(image, data + 1 + 4 * i) = before[i];
	free(before);
	return 0;
}
