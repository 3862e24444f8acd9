/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "tests/unit/unit.h"

static void test_integers_are_little_endian(void **state)
{
	static const uint8_t expected[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct buffer b = { 0 };

	buffer_u8(&b, 1);
	buffer_u16(&b, 0x0302);
	buffer_u32(&b, 0x07060504);
	buffer_u64(&b, 0x0f0e0d0c0b0a0908);
	assert_true(buffer_ok(&b));
	assert_int_equal(b.size, sizeof(expected));
	assert_memory_equal(b.data, expected, sizeof(expected));
	buffer_release(&b);
	assert_null(b.data);
}

static void check_leb(struct buffer *b, size_t size, const char *bytes)
{
	assert_int_equal(b->size, size);
	assert_memory_equal(b->data, bytes, size);
	buffer_clear(b);
}

static void test_leb(void **state)
{
	struct buffer b = { 0 };

	buffer_uleb(&b, 0);
	check_leb(&b, 1, "\0");
	buffer_uleb(&b, 127);
	check_leb(&b, 1, "\x7f");
	buffer_uleb(&b, 624485);
	check_leb(&b, 3, "\xe5\x8e\x26");
	buffer_uleb(&b, UINT64_MAX);
	check_leb(&b, 10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
	buffer_sleb(&b, -1);
	check_leb(&b, 1, "\x7f");
	buffer_sleb(&b, 63);
	check_leb(&b, 1, "\x3f");
	buffer_sleb(&b, 64);
	check_leb(&b, 2, "\xc0\0");
	buffer_sleb(&b, -123456);
	check_leb(&b, 3, "\xc0\xbb\x78");
	buffer_sleb(&b, INT64_MIN);
	check_leb(&b, 10, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f");
	buffer_release(&b);
}

static void test_text(void **state)
{
	struct buffer b = { 0 };

	assert_string_equal(buffer_string(&b), "");
	buffer_text(&b, "a ");
	buffer_printf(&b, "%d %s", 12, "bc");
	assert_string_equal(buffer_string(&b), "a 12 bc");
	assert_int_equal(b.size, 7);
	buffer_text(&b, "!");
	assert_string_equal(buffer_string(&b), "a 12 bc!");
	buffer_release(&b);
}

static void test_failure_is_remembered(void **state)
{
	struct buffer b = { 0 };

	buffer_text(&b, "kept");
	assert_null(buffer_extend(&b, SIZE_MAX / 2));
	assert_false(buffer_ok(&b));
	buffer_text(&b, "not appended");
	assert_int_equal(b.size, 4);
	assert_null(buffer_extend(&b, 1));
	buffer_release(&b);
	assert_true(buffer_ok(&b));
}

static void test_growth_keeps_bytes(void **state)
{
	struct buffer b = { 0 };

	for (uint32_t i = 0; i < 100000; i++)
		buffer_u32(&b, i);
	assert_int_equal(b.size, 400000);
	for (uint32_t i = 0; i < 100000; i += 999)
		assert_int_equal(b.data[4 * i] | b.data[4 * i + 1] << 8 | b.data[4 * i + 2] << 16,
				 i);
	buffer_release(&b);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_integers_are_little_endian),
	cmocka_unit_test(test_leb),
	cmocka_unit_test(test_text),
	cmocka_unit_test(test_failure_is_remembered),
	cmocka_unit_test(test_growth_keeps_bytes),
};

UNIT_TESTS(tests);
