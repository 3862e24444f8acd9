/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/hotspot_names.h"

#include "testdata/memory_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t total_bytes;

/*
 * A Java machine whose memory has other bytes in some places: the input is a list of position
 * (u24 in the image's granules, counted in bytes) and value. Whatever comes out, it ends.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const paths[] = { "testdata/hotspot-17.image",
					     "testdata/hotspot-25.image",
					     "testdata/hotspot-8.image",
					     "testdata/hotspot-11.image" };
	struct prf_place places[HOTSPOT_INLINED_MAX];
	struct hotspot_names *names;
	struct memory_image image;
	struct cursor c = cursor_over(data, size);
	const char *why;
	struct hotspot h;

	if (!memory_image_open(&image, paths[cursor_u8(&c) & 3]))
		__builtin_trap();
	while (cursor_left(&c) >= 4) {
		uint32_t at = cursor_u16(&c);

		at |= (uint32_t)cursor_u8(&c) << 16;
		image.bytes[image.size - 1 - at % (image.size / 2)] = cursor_u8(&c);
	}
	/* The granules' numbers were taken from it before. */
	h = (struct hotspot){ .memory = { memory_image_read, &image },
			      .bias = image.bias,
			      .exports = image.exports };
	if (hotspot_attach(&h, &why) == HOTSPOT_READY) {
		names = hotspot_names_new(&h, &total_bytes);
		for (size_t i = 0; names && i < image.frame_count; i++)
			hotspot_names_find(names, &image.frames[i].frame, image.frames[i].exact,
					   places);
		hotspot_names_free(names);
	}
	memory_image_release(&image);
	return 0;
}
