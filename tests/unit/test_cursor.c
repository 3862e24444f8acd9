/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/cursor.h"
#include "tests/unit/unit.h"

static void test_integers(void **state)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct cursor c = cursor_over(bytes, sizeof(bytes));

	assert_int_equal(cursor_u8(&c), 1);
	assert_int_equal(cursor_u16(&c), 0x0302);
	assert_int_equal(cursor_u32(&c), 0x07060504);
	assert_int_equal(cursor_offset(&c), 7);
	assert_true(cursor_u64(&c) == 0x0f0e0d0c0b0a0908);
	assert_true(cursor_ok(&c));
	assert_int_equal(cursor_left(&c), 0);
	assert_int_equal(cursor_u8(&c), 0);
	assert_false(cursor_ok(&c));
}

static void test_failure_stays(void **state)
{
	static const uint8_t bytes[4] = { 1, 2, 3, 4 };
	struct cursor c = cursor_over(bytes, sizeof(bytes));

	assert_int_equal(cursor_u64(&c), 0);
	assert_false(cursor_ok(&c));
	assert_int_equal(cursor_u8(&c), 0);
	cursor_seek(&c, 0);
	assert_int_equal(cursor_u8(&c), 0);
	assert_false(cursor_ok(&c));
}

static void test_huge_sizes(void **state)
{
	static const uint8_t bytes[4];
	struct cursor c = cursor_over(bytes, sizeof(bytes));

	cursor_skip(&c, 1);
	assert_null(cursor_bytes(&c, UINT64_MAX));
	assert_false(cursor_ok(&c));
	c = cursor_over(bytes, sizeof(bytes));
	cursor_seek(&c, 4);
	assert_true(cursor_ok(&c));
	cursor_seek(&c, UINT64_MAX - 1);
	assert_false(cursor_ok(&c));
}

static void test_short_strings(void **state)
{
	static const char bytes[] = "four\0x";
	struct cursor c = cursor_over(bytes, sizeof(bytes));

	assert_string_equal(cursor_short_string(&c, 5), "four");
	assert_int_equal(cursor_offset(&c), 5);
	assert_string_equal(cursor_short_string(&c, 100), "x");
	assert_int_equal(cursor_left(&c), 0);
	assert_null(cursor_short_string(&c, 100));
	assert_false(cursor_ok(&c));
	c = cursor_over(bytes, sizeof(bytes));
	assert_null(cursor_short_string(&c, 4));
	assert_false(cursor_ok(&c));
	assert_int_equal(cursor_left(&c), 0);
	c = cursor_over(bytes, 4);
	assert_null(cursor_short_string(&c, 100));
	assert_false(cursor_ok(&c));
}

static void test_leb_round_trip(void **state)
{
	static const int64_t values[] = { 0,	   1,	      -1,	 63,	    64,
					  -64,	   -65,	      127,	 128,	    624485,
					  -123456, INT32_MAX, INT64_MAX, INT64_MIN, INT64_MIN + 1 };

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct buffer b = { 0 };
		struct cursor c;

		buffer_sleb(&b, values[i]);
		buffer_uleb(&b, (uint64_t)values[i]);
		c = cursor_over(b.data, b.size);
		assert_true(cursor_sleb(&c) == values[i]);
		assert_true(cursor_uleb(&c) == (uint64_t)values[i]);
		assert_true(cursor_ok(&c));
		assert_int_equal(cursor_left(&c), 0);
		/* Every shorter one fails. */
		for (size_t size = 0; size < b.size; size++) {
			c = cursor_over(b.data, size);
			cursor_sleb(&c);
			cursor_uleb(&c);
			assert_false(cursor_ok(&c));
		}
		buffer_release(&b);
	}
}

static void test_leb_limits(void **state)
{
	static const uint8_t endless[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
	static const uint8_t large[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
	struct cursor c = cursor_over(endless, sizeof(endless));

	cursor_uleb(&c);
	assert_false(cursor_ok(&c));
	c = cursor_over(endless, sizeof(endless));
	cursor_sleb(&c);
	assert_false(cursor_ok(&c));
	c = cursor_over(large, sizeof(large));
	cursor_uleb(&c);
	assert_false(cursor_ok(&c));
}

static void test_text(void **state)
{
	static const uint8_t bytes[] = { 'a', 'b', 0, 0, 'c' };
	struct cursor c = cursor_over(bytes, sizeof(bytes));

	assert_string_equal(cursor_string(&c), "ab");
	assert_string_equal(cursor_string(&c), "");
	assert_null(cursor_string(&c));
	assert_false(cursor_ok(&c));
	c = cursor_over(NULL, 0);
	assert_null(cursor_string(&c));
	assert_null(cursor_bytes(&c, 1));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_integers),       cmocka_unit_test(test_failure_stays),
	cmocka_unit_test(test_huge_sizes),     cmocka_unit_test(test_short_strings),
	cmocka_unit_test(test_leb_round_trip), cmocka_unit_test(test_leb_limits),
	cmocka_unit_test(test_text),
};

UNIT_TESTS(tests);
