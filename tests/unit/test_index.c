/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/index.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

static struct index filled(uint64_t blocks)
{
	struct index index = { 0 };

	for (uint64_t i = 0; i < blocks; i++)
		assert_true(index_add(&index, 24 + i * 1000, i * 100, i * 100 + 150));
	return index;
}

static struct index copied(const struct index *index)
{
	struct index copy = { 0 };
	struct buffer b = { 0 };
	struct cursor c;

	index_encode(&b, index);
	c = cursor_over(b.data, b.size);
	assert_no_error(index_decode(&copy, &c));
	assert_int_equal(cursor_left(&c), 0);
	buffer_release(&b);
	return copy;
}

/* Whatever is left out must not hold a wanted time. */
static void check(const struct index *index, uint64_t blocks, uint64_t from, uint64_t to,
		  size_t *wanted)
{
	*wanted = 0;
	for (uint64_t i = 0; i < blocks; i++) {
		bool wants = index_wants(index, 24 + i * 1000, from, to);

		if (i * 100 < to && i * 100 + 150 >= from)
			assert_true(wants);
		*wanted += wants;
	}
}

static void test_small(void **state)
{
	struct index index = filled(100), copy = copied(&index);
	size_t wanted;

	assert_int_equal(copy.count, 100);
	check(&copy, 100, 1000, 1001, &wanted);
	assert_int_equal(wanted, 2);
	check(&copy, 100, 0, UINT64_MAX, &wanted);
	assert_int_equal(wanted, 100);
	check(&copy, 100, 1000000, UINT64_MAX, &wanted);
	assert_int_equal(wanted, 0);
	index_release(&index);
	index_release(&copy);
}

static void test_bounded(void **state)
{
	struct index index = filled(100000), copy = copied(&index);
	size_t wanted;

	assert_true(copy.count <= WIRE_INDEX_MAX);
	assert_true(copy.count >= WIRE_INDEX_MAX / 2);
	check(&copy, 100000, 5000000, 5000001, &wanted);
	assert_true(wanted <= 128);
	index_release(&index);
	index_release(&copy);
}

static void test_without_an_index_all_is_wanted(void **state)
{
	struct index index = { 0 };

	assert_true(index_wants(&index, 24, 5, 6));
}

static void test_broken(void **state)
{
	struct index index = filled(10);
	struct buffer b = { 0 };
	struct cursor c;

	index_encode(&b, &index);
	for (size_t size = 0; size < b.size; size++) {
		c = cursor_over(b.data, size);
		assert_error_kind(index_decode(&index, &c), ERROR_CORRUPT);
		assert_int_equal(index.count, 0);
	}
	buffer_clear(&b);
	buffer_uleb(&b, WIRE_INDEX_MAX + 1);
	c = cursor_over(b.data, b.size);
	assert_error(index_decode(&index, &c), ERROR_CORRUPT,
		     "the index claims to have 4097 spans");
	index_release(&index);
	buffer_release(&b);
}

static void test_end(void **state)
{
	struct end end = { 1, 2, UINT64_MAX }, read;
	struct buffer b = { 0 };
	struct cursor c;

	end_encode(&b, &end);
	assert_int_equal(b.size, END_SIZE);
	c = cursor_over(b.data, b.size);
	assert_true(end_decode(&c, &read));
	assert_memory_equal(&end, &read, sizeof(end));
	c = cursor_over(b.data, b.size - 1);
	assert_false(end_decode(&c, &read));
	buffer_release(&b);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_small),
	cmocka_unit_test(test_bounded),
	cmocka_unit_test(test_without_an_index_all_is_wanted),
	cmocka_unit_test(test_broken),
	cmocka_unit_test(test_end),
};

UNIT_TESTS(tests);
