/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tables of optimized code, as V8 writes them: which functions are inlined at an offset. */

#include "record/javascript/v8_inlined.h"

#include <stdbool.h>
#include <string.h>

#include "tests/unit/unit.h"

/* -------- tables -------- */

static struct v8_compilation tables;

static int no_tables(void **state)
{
	tables = (struct v8_compilation){ .inner_count = V8_INNER_MAX, .size = 0x20000 };
	return 0;
}

static uint64_t position(uint64_t place, int call)
{
	return (uint64_t)(call + 1) << 31 | place << 1;
}

/* A call of that function, inlined in the call `parent`. */
static void add_call(int parent, uint32_t function)
{
	uint64_t at = position(tables.places_size, parent);

	memcpy(tables.places + tables.places_size, &at, 8);
	memcpy(tables.places + tables.places_size + 8, &function, 4);
	tables.places_size += 16;
}

static void add_number(int64_t value)
{
	uint64_t bits = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);

	for (; bits >= 0x80; bits >>= 7)
		tables.positions[tables.positions_size++] = (uint8_t)(bits | 0x80);
	tables.positions[tables.positions_size++] = (uint8_t)bits;
}

/* From the offset on, code of that call, or of none: -1. */
static void add_entry(uint32_t offset, int call, bool statement)
{
	static uint32_t last_offset;
	static uint64_t last_position;
	uint64_t at = position(offset % 100, call);

	if (!tables.positions_size) {
		last_offset = 0;
		last_position = 0;
	}
	add_number(statement ? (int64_t)(offset - last_offset)
			     : -(int64_t)(offset - last_offset) - 1);
	add_number((int64_t)(at - last_position));
	last_offset = offset;
	last_position = at;
}

/* The functions at the offset, innermost first, each as a digit. */
static const char *at(uint64_t offset)
{
	static char text[V8_INLINED_DEPTH + 1];
	struct v8_inlined *inlined = v8_inlined_new(&tables);
	uint32_t functions[V8_INLINED_DEPTH];
	size_t n;

	if (!inlined)
		return "nothing";
	n = v8_inlined_find(inlined, offset, functions);
	assert_true(v8_inlined_size(inlined) > 0);
	for (size_t i = 0; i < n; i++)
		text[i] = (char)('0' + functions[i] % 10);
	text[n] = 0;
	v8_inlined_free(inlined);
	return text;
}

/* -------- tests -------- */

static void test_calls_in_calls(void **state)
{
	add_call(-1, 0);
	add_call(0, 1);
	add_call(1, 2);
	add_call(0, 2);
	add_entry(1, -1, true);
	add_entry(0x20, 0, true);
	add_entry(0x30, 2, false);
	add_entry(0x80, 3, true);
	add_entry(0x200, -1, false);
	assert_string_equal(at(0), "");
	assert_string_equal(at(0x1f), "");
	assert_string_equal(at(0x20), "0");
	assert_string_equal(at(0x2f), "0");
	assert_string_equal(at(0x30), "210");
	assert_string_equal(at(0x7f), "210");
	assert_string_equal(at(0x1ff), "20");
	assert_string_equal(at(0x200), "");
	assert_string_equal(at(0x10000), "");
}

static void test_nothing_is_inlined(void **state)
{
	add_entry(1, -1, true);
	assert_string_equal(at(1), "nothing");
	v8_inlined_free(NULL);
}

/* An address that lies elsewhere is not that of the last call. */
static void test_the_end_of_the_code(void **state)
{
	tables.size = 0x100;
	add_call(-1, 5);
	add_entry(0x10, 0, true);
	assert_string_equal(at(0xff), "5");
	assert_string_equal(at(0x100), "");
	assert_string_equal(at((uint64_t)-1), "");
}

/* Where the record ends, what comes is not known. */
static void test_tables_that_are_cut(void **state)
{
	uint32_t offset = 0;

	add_call(-1, 3);
	while (tables.positions_size + 8 < V8_POSITIONS_BYTES) {
		add_entry(offset, 0, true);
		offset += 16;
	}
	offset -= 16;
	assert_string_equal(at(offset), "3");
	tables.positions_size = V8_POSITIONS_BYTES + 1;
	assert_string_equal(at(offset - 16), "3");
	assert_string_equal(at(offset + 1000), "");
	tables.places_size = V8_PLACES_BYTES + 160;
	assert_string_equal(at(offset - 16), "3");
	no_tables(NULL);
	for (int i = 0; i < V8_PLACES_BYTES / 16; i++)
		add_call(-1, 4);
	tables.places_size += 16;
	add_entry(1, V8_PLACES_BYTES / 16, true);
	add_entry(2, V8_PLACES_BYTES / 16 - 1, true);
	assert_string_equal(at(1), "");
	assert_string_equal(at(2), "4");
}

static void test_tables_that_lie(void **state)
{
	add_call(0, 1); /* in itself */
	add_entry(1, 0, true);
	assert_string_equal(at(1), "nothing");
	no_tables(NULL);
	add_call(1, 1); /* in one that comes later */
	add_call(-1, 1);
	add_entry(1, 0, true);
	assert_string_equal(at(1), "nothing");
	no_tables(NULL);
	add_call(-1, 1);
	add_entry(1, 0, true);
	add_entry(2, 5, true); /* of a call that is not there */
	add_entry(3, 0, true);
	assert_string_equal(at(1), "");
	assert_string_equal(at(3), "");
	no_tables(NULL);
	for (int i = 0; i < V8_INLINED_DEPTH + 1; i++)
		add_call(i - 1, (uint32_t)i);
	add_entry(1, V8_INLINED_DEPTH - 1, true);
	add_entry(2, V8_INLINED_DEPTH, true); /* too deep */
	assert_string_equal(at(1), "5432109876543210");
	assert_string_equal(at(2), "");
	no_tables(NULL);
	add_call(-1, 1);
	memset(tables.positions, 0xff, sizeof(tables.positions));
	tables.positions_size = sizeof(tables.positions);
	assert_string_equal(at(1), "");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup(test_calls_in_calls, no_tables),
	cmocka_unit_test_setup(test_nothing_is_inlined, no_tables),
	cmocka_unit_test_setup(test_the_end_of_the_code, no_tables),
	cmocka_unit_test_setup(test_tables_that_are_cut, no_tables),
	cmocka_unit_test_setup(test_tables_that_lie, no_tables),
};

UNIT_TESTS(tests);
