/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/javascript/v8_inlined.h"

#include <string.h>

#include "common/cursor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input: how large the two tables claim to be (u16 each), and how many bytes the first has. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct v8_compilation c = { .inner_count = V8_INNER_MAX, .size = 4000 };
	struct cursor input = cursor_over(data, size);
	uint32_t functions[V8_INLINED_DEPTH];
	struct v8_inlined *inlined;
	uint64_t first, rest;

	c.places_size = cursor_u16(&input);
	c.positions_size = cursor_u16(&input);
	first = cursor_u16(&input);
	if (!cursor_ok(&input))
		return 0;
	first = first < V8_PLACES_BYTES ? first : V8_PLACES_BYTES;
	first = first < cursor_left(&input) ? first : cursor_left(&input);
	memcpy(c.places, cursor_bytes(&input, first), first);
	rest = cursor_left(&input);
	rest = rest < V8_POSITIONS_BYTES ? rest : V8_POSITIONS_BYTES;
	memcpy(c.positions, cursor_bytes(&input, rest), rest);
	inlined = v8_inlined_new(&c);
	for (uint64_t offset = 0; inlined && offset < 4096; offset += 7)
		if (v8_inlined_find(inlined, offset, functions) > V8_INLINED_DEPTH)
			__builtin_trap();
	v8_inlined_free(inlined);
	return 0;
}
