/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/range_pool.h"
#include "tests/unit/unit.h"

#define NOW UINT64_C(100000000000)

static void test_ranges_do_not_overlap(void **state)
{
	struct range_pool p;
	uint8_t taken[100] = { 0 };

	assert_int_equal(range_pool_init(&p, 100), 0);
	for (uint32_t n = 1; n <= 13; n++) {
		uint32_t first = range_pool_take(&p, n, NOW);

		assert_int_not_equal(first, RANGE_POOL_NONE);
		for (uint32_t i = first; i < first + n; i++)
			assert_int_equal(taken[i]++, 0);
	}
	assert_int_equal(p.used, 91);
	assert_int_equal(range_pool_take(&p, 10, NOW), RANGE_POOL_NONE);
	assert_int_not_equal(range_pool_take(&p, 9, NOW), RANGE_POOL_NONE);
	assert_int_equal(range_pool_take(&p, 1, NOW), RANGE_POOL_NONE);
	range_pool_release(&p);
}

static void test_what_was_given_back_rests(void **state)
{
	struct range_pool p;

	assert_int_equal(range_pool_init(&p, 10), 0);
	assert_int_equal(range_pool_take(&p, 10, NOW), 0);
	range_pool_give(&p, 0, 10, NOW);
	assert_int_equal(p.used, 0);
	assert_int_equal(range_pool_take(&p, 1, NOW + RANGE_POOL_REST_NS / 2), RANGE_POOL_NONE);
	assert_int_equal(range_pool_take(&p, 10, NOW + RANGE_POOL_REST_NS), 0);
	range_pool_release(&p);
}

/* By 32 bits of milliseconds that was less than no time ago, or nearly. */
static void test_what_was_given_back_long_ago(void **state)
{
	const uint64_t day = UINT64_C(86400) * 1000000000;
	struct range_pool p;

	assert_int_equal(range_pool_init(&p, 10), 0);
	for (uint64_t days = 1; days < 49; days++) {
		assert_int_equal(range_pool_take(&p, 10, NOW + days * day), 0);
		range_pool_give(&p, 0, 10, NOW);
	}
	assert_int_equal(range_pool_take(&p, 10, NOW - RANGE_POOL_REST_NS), RANGE_POOL_NONE);
	range_pool_release(&p);
}

static void test_wrong_sizes(void **state)
{
	struct range_pool p;

	assert_int_equal(range_pool_init(&p, 10), 0);
	assert_int_equal(range_pool_take(&p, 0, NOW), RANGE_POOL_NONE);
	assert_int_equal(range_pool_take(&p, 11, NOW), RANGE_POOL_NONE);
	range_pool_release(&p);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_ranges_do_not_overlap),
	cmocka_unit_test(test_what_was_given_back_rests),
	cmocka_unit_test(test_what_was_given_back_long_ago),
	cmocka_unit_test(test_wrong_sizes),
};

UNIT_TESTS(tests);
