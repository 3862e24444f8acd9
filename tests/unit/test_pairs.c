/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/pairs.h"
#include "tests/unit/unit.h"

static void test_numbers_count_up(void **state)
{
	struct pairs p = { 0 };

	for (uint64_t i = 0; i < 20000; i++)
		assert_int_equal(pairs_put(&p, i * 7, i % 13), i);
	for (uint64_t i = 0; i < 20000; i += 3)
		assert_int_equal(pairs_put(&p, i * 7, i % 13), i);
	assert_int_equal(p.count, 20000);
	assert_int_equal(p.pairs[77].a, 539);
	assert_int_equal(p.pairs[77].b, 12);
	pairs_release(&p);
}

static void test_both_count(void **state)
{
	struct pairs p = { 0 };

	assert_int_equal(pairs_put(&p, 1, 2), 0);
	assert_int_equal(pairs_put(&p, 2, 1), 1);
	assert_int_equal(pairs_put(&p, 1, 1), 2);
	assert_int_equal(pairs_put(&p, UINT64_MAX, 0), 3);
	assert_int_equal(pairs_put(&p, 1, 2), 0);
	pairs_clear(&p);
	assert_int_equal(p.count, 0);
	assert_int_equal(pairs_put(&p, 1, 1), 0);
	pairs_release(&p);
}

static void test_finds_without_adding(void **state)
{
	struct pairs p = { 0 };

	assert_int_equal(pairs_find(&p, 1, 2), UINT32_MAX);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(pairs_put(&p, i, i * 3), i);
	for (uint64_t i = 0; i < 1000; i++) {
		assert_int_equal(pairs_find(&p, i, i * 3), i);
		assert_int_equal(pairs_find(&p, i, i * 3 + 1), UINT32_MAX);
	}
	assert_int_equal(p.count, 1000);
	pairs_release(&p);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_numbers_count_up),
	cmocka_unit_test(test_both_count),
	cmocka_unit_test(test_finds_without_adding),
};

UNIT_TESTS(tests);
