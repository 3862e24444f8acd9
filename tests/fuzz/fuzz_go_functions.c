/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/go_functions.h"

#include <elf.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All frame sizes of all functions; each step goes on in the function. */
static void read_all(const struct go_functions *g)
{
	struct go_function f;
	struct go_frame frame;

	for (size_t i = 0; i < g->count && go_functions_get(g, i, &f); i++) {
		uint64_t at = f.start;

		if (f.start >= f.end || strlen(f.name) > 512)
			__builtin_trap();
		go_functions_at(g, f.end - 1);
		for (bool ok = go_frame_first(g, &f, &frame); ok && at < f.end;
		     ok = go_frame_next(&frame)) {
			if (frame.end <= at || frame.size < 0)
				__builtin_trap();
			at = frame.end;
		}
	}
}

/* The bytes are a table of functions, or among the data that holds one. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_section sections[3] = {
		{ .name = "" },
		{ .type = SHT_PROGBITS, .size = size },
		{ .name = ".rela.dyn", .type = SHT_RELA, .size = size }
	};
	struct elf_file file = {
		.data = data, .size = size, .sections = sections, .section_count = 3
	};
	struct go_functions g;

	for (int own = 0; own < 2; own++) {
		sections[1].name = own ? ".gopclntab" : ".data.rel.ro";
		if (go_functions_open(&g, &file))
			read_all(&g);
	}
	return 0;
}
