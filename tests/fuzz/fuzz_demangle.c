/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Names: demangled whole and short, and any text made short. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/symbols/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = malloc(size + 1), *made = malloc(size + 1);
	struct arena arena = { 0 };

	if (name && made) {
		memcpy(name, data, size);
		name[size] = 0;
		demangle(name, true, &arena);
		demangle(name, false, &arena);
		shorten_name(made, name, false);
		shorten_name(made, name, true);
	}
	arena_release(&arena);
	free(name);
	free(made);
	return 0;
}
