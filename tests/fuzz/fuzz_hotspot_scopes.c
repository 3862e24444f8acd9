/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/java/hotspot_scopes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same bytes as a table of lines, as scopes and as a table of pcs. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hotspot_pcs pcs = { data, size / 16, 16, 0, 4 };

	for (int no_zero = 0; no_zero < 2; no_zero++) {
		uint32_t first,
			line = hotspot_line_at(cursor_over(data, size), no_zero, 1000, &first);
		uint32_t at = hotspot_pcs_find(&pcs, 64), steps = 0;
		struct hotspot_scope scope;

		/* The first line is none after the one that was found. */
		if (line && (!first || first > line))
			__builtin_trap();
		while (hotspot_scope_at(data, size, no_zero, at, &scope) && scope.sender < at &&
		       ++steps <= size)
			at = scope.sender;
		if (steps > size)
			__builtin_trap();
	}
	return 0;
}
