/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/java/hotspot_scopes.h"
#include "tests/unit/unit.h"

#include <string.h>

static uint32_t number(const char *bytes, size_t size, bool no_zero, bool *ok)
{
	struct cursor c = cursor_over(bytes, size);
	uint32_t value = hotspot_number(&c, no_zero);

	*ok = cursor_ok(&c) && !cursor_left(&c);
	return value;
}

static void is_number(const char *bytes, size_t size, bool no_zero, uint32_t expected)
{
	bool ok;

	assert_int_equal(number(bytes, size, no_zero, &ok), expected);
	assert_true(ok);
}

#define IS_NUMBER(bytes, no_zero, expected) is_number(bytes, sizeof(bytes) - 1, no_zero, expected)

/* As HotSpot's own UNSIGNED5::write_uint() writes them. */
static void test_numbers(void **state)
{
	bool ok;

	IS_NUMBER("\0", false, 0);
	IS_NUMBER("\xbf", false, 191);
	IS_NUMBER("\xc0\0", false, 192);
	IS_NUMBER("\xe8\x0c", false, 1000);
	/* Five bytes at most. */
	IS_NUMBER("\xff\xff\xff\xff\xff", false, 51130559);
	IS_NUMBER("\x01", true, 0);
	IS_NUMBER("\xbf", true, 190);
	IS_NUMBER("\xc0\x01", true, 191);
	IS_NUMBER("\xe9\x0d", true, 1000);
	/* One that ends too early. */
	assert_int_equal(number("\xe8", 1, false, &ok), 0);
	assert_false(ok);
	assert_int_equal(number("", 0, true, &ok), 0);
	assert_false(ok);
}

static void test_scopes(void **state)
{
	/* At 1: called from 5, method 2, bytecode 9; at 5: nobody, method 1, before the first. */
	static const uint8_t data[] = { 0xee, 5, 2, 10, 0xee, 0, 1, 0 };
	struct hotspot_scope s;

	assert_true(hotspot_scope_at(data, sizeof(data), false, 1, &s));
	assert_int_equal(s.sender, 5);
	assert_int_equal(s.method, 2);
	assert_int_equal(s.bci, 9);
	assert_true(hotspot_scope_at(data, sizeof(data), false, 5, &s));
	assert_int_equal(s.sender, 0);
	assert_int_equal(s.bci, -1);
	assert_false(hotspot_scope_at(data, sizeof(data), false, 0, &s));
	assert_false(hotspot_scope_at(data, sizeof(data), false, 7, &s));
	assert_false(hotspot_scope_at(data, sizeof(data), false, 8, &s));
	assert_false(hotspot_scope_at(NULL, 0, false, 1, &s));
}

static void test_pcs(void **state)
{
	/* pc, scope; the first and the last are guards. */
	static const int32_t data[][2] = { { -1, 0 }, { 16, 100 }, { 32, 200 }, { INT32_MAX, 0 } };
	const struct hotspot_pcs pcs = { (const uint8_t *)data, 4, 8, 0, 4 };
	const struct hotspot_pcs none = { (const uint8_t *)data, 0, 8, 0, 4 };

	assert_int_equal(hotspot_pcs_find(&pcs, 0), 100);
	assert_int_equal(hotspot_pcs_find(&pcs, 16), 100);
	assert_int_equal(hotspot_pcs_find(&pcs, 17), 200);
	assert_int_equal(hotspot_pcs_find(&pcs, 32), 200);
	assert_int_equal(hotspot_pcs_find(&pcs, 33), 0);
	assert_int_equal(hotspot_pcs_find(&none, 16), 0);
}

static uint32_t line(const char *bytes, size_t size, uint32_t bci, uint32_t *first)
{
	return hotspot_line_at(cursor_over(bytes, size), false, bci, first);
}

static void test_lines(void **state)
{
	/* 0: 10; 3: 12; escaped: 3 + 40: 12 - 2; end */
	static const char table[] = "\xff\0\x14\x1a\xff\x50\x03\0";
	uint32_t first;

	assert_int_equal(line(table, 8, 0, &first), 10);
	assert_int_equal(first, 10);
	assert_int_equal(line(table, 8, 2, &first), 10);
	assert_int_equal(line(table, 8, 3, &first), 12);
	assert_int_equal(line(table, 8, 42, &first), 12);
	assert_int_equal(line(table, 8, 43, &first), 10);
	assert_int_equal(line(table, 8, 60000, &first), 10);
	/* Cut off anywhere: what is whole counts. */
	assert_int_equal(line(table, 2, 50, &first), 0);
	assert_int_equal(line(table, 4, 50, &first), 12);
	assert_int_equal(line("", 0, 0, &first), 0);
	assert_int_equal(first, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_numbers),
	cmocka_unit_test(test_scopes),
	cmocka_unit_test(test_pcs),
	cmocka_unit_test(test_lines),
};

UNIT_TESTS(tests);
