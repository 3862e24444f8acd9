/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A file of the name cache: opened, and every answer read. */
#include <stdint.h>
#include <string.h>

#include "report/symbols/name_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct name_cache_key key = { .flags = 3, .identity = 7 };
	struct name_cache c = { 0 };
	size_t bytes = 0;

	if (!name_cache_open_memory(&c, &key, data, size))
		return 0;
	name_cache_find(&c, 1);
	for (uint32_t i = 0; i < c.offset_count; i++) {
		for (uint32_t p = 0; p < name_cache_places(&c, i); p++) {
			struct symbolizer_place place = name_cache_place(&c, i, p);

			bytes += strlen(place.function) + strlen(place.file);
		}
	}
	return bytes == SIZE_MAX;
}
