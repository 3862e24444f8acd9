/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct write_times times = { 0 };
	const struct perf_map_source source = { .times = &times };
	struct code_map map = { 0 };
	size_t done = perf_map_parse(&map, &source, data, size / 2);
	uint32_t symbol;

	perf_map_parse(&map, &source, data + done, size - done);
	/* The newest one holds, all over its place. */
	for (size_t i = 0; i < map.n; i++) {
		const struct code_piece *piece = &map.symbols[i].piece;

		if (map.symbols[i].replaced != CODE_NONE)
			continue;
		if (code_map_find(&map, piece->start + piece->size - 1, UINT64_MAX, &symbol) !=
			    CODE_KNOWN ||
		    symbol != i)
			__builtin_trap();
	}
	code_map_release(&map);
	return 0;
}
