/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/javascript/v8_names.h"

#include "common/cursor.h"
#include "testdata/v8_heap.h"

struct v8_heap v8_heap;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_heap(void *context, uint64_t address, void *bytes, size_t size)
{
	return !v8_heap_read(bytes, size, address);
}

static struct target_memory memory_of(uint32_t pid)
{
	return (struct target_memory){ read_heap, NULL };
}

static void use(struct v8_names *n, struct v8_walk *walk)
{
	const struct script_frame frame = { walk->name.code & V8_SCRIPT, walk->name.position };
	struct prf_place places[V8_PLACES_MAX];
	bool complete;

	if (v8_names_add(n, &walk->name, sizeof(walk->name)) &&
	    !v8_names_find(n, &(struct v8_question){ &frame, 0x100040, true }, places, &complete))
		__builtin_trap();
}

/*
 * A function in a heap that has other bytes in some places: the input is a list of position (u16)
 * and value; then, after one with a position beyond the heap, the same for the record. Whatever
 * comes out, it ends, and nothing is read from outside of the heap.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct v8_walk walk;
	struct v8_names *n = v8_names_new(&(struct v8_names_options){ .memory = memory_of });
	struct cursor c = cursor_over(data, size);
	uint64_t function;
	uint8_t *record = (uint8_t *)&walk.name;

	v8_heap = (struct v8_heap){ 0 };
	function = v8_new_function(&(struct v8_made){
		.name = v8_new_ascii("named"),
		.inferred = v8_new_ascii("inferred"),
		.file = v8_new_ascii("/srv/app.js"),
		.source = v8_new_ascii("\n\nfunction named() { }"),
		.start = 16,
		.token = 14,
		.number = 1,
		.literal = 1,
	});
	while (cursor_left(&c) >= 3) {
		uint16_t at = cursor_u16(&c);

		if (at >= v8_heap.used)
			break;
		v8_heap.bytes[at] = cursor_u8(&c);
	}
	if (v8_heap_name(&walk, function))
		use(n, &walk);
	while (cursor_left(&c) >= 3) {
		uint16_t at = cursor_u16(&c) % sizeof(walk.name);

		record[at] = cursor_u8(&c);
	}
	walk.name.code |= V8_NAME;
	use(n, &walk);
	v8_names_free(n);
	return 0;
}
