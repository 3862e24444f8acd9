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
	/* The newest one holds, all over its place; one without a name makes no other known. */
	for (size_t i = 0; i < map.n; i++) {
		const struct code_symbol *s = &map.symbols[i];
		enum code_answer due = *code_map_name(&map, s) ? CODE_KNOWN : CODE_AMBIGUOUS;

		if (s->replaced != CODE_NONE)
			continue;
		if (code_map_find(&map, s->piece.start + s->piece.size - 1, UINT64_MAX, &symbol) !=
			    due ||
		    (due == CODE_KNOWN && symbol != i))
			__builtin_trap();
	}
	code_map_release(&map);
	return 0;
}
