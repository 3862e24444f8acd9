/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_map map = { 0 };
	size_t done = perf_map_parse(&map, data, size / 2);

	perf_map_parse(&map, data + done, size - done);
	code_map_settle(&map, NULL, NULL);
	for (size_t i = 1; i < map.n; i++)
		if (map.symbols[i - 1].start + map.symbols[i - 1].size > map.symbols[i].start)
			__builtin_trap();
	code_map_release(&map);
	return 0;
}
