/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same bytes at once and in two pieces must give the same symbols. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code_map maps[2] = { 0 };

	for (int pieces = 0; pieces < 2; pieces++) {
		const struct write_times times = { 0 };
		struct jitdump dump = { 0 };
		size_t done = 0;

		if (pieces)
			done = jitdump_parse(&dump, &maps[1], &times, data, size / 2);
		jitdump_parse(&dump, &maps[pieces], &times, data + done, size - done);
		jitdump_release(&dump);
	}
	if (maps[0].n != maps[1].n)
		__builtin_trap();
	code_map_release(&maps[0]);
	code_map_release(&maps[1]);
	return 0;
}
