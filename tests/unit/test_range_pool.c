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
		uint32_t first = range_pool_take(&p, n, 0, NOW);

		assert_int_not_equal(first, RANGE_POOL_NONE);
		for (uint32_t i = first; i < first + n; i++)
			assert_int_equal(taken[i]++, 0);
	}
	assert_int_equal(p.shares.taken, 91);
	assert_int_equal(range_pool_take(&p, 10, 0, NOW), RANGE_POOL_NONE);
	assert_int_not_equal(range_pool_take(&p, 9, 0, NOW), RANGE_POOL_NONE);
	assert_int_equal(range_pool_take(&p, 1, 0, NOW), RANGE_POOL_NONE);
	range_pool_release(&p);
}

static void test_what_was_given_back_rests(void **state)
{
	struct range_pool p;

	assert_int_equal(range_pool_init(&p, 10), 0);
	assert_int_equal(range_pool_take(&p, 10, 7, NOW), 0);
	assert_int_equal(range_pool_resting(&p, 7), 0);
	range_pool_give(&p, &(struct pool_range){ 0, 10, 7 }, NOW);
	assert_int_equal(range_pool_take(&p, 1, 0, NOW + RANGE_POOL_REST_NS - 1), RANGE_POOL_NONE);
	/* It is still his. */
	assert_int_equal(shares_of(&p.shares, 7), 10);
	assert_int_equal(range_pool_resting(&p, 7), 10);
	assert_int_equal(range_pool_resting(&p, 8), 0);
	assert_int_equal(range_pool_resting(&p, 0), 10);
	assert_int_equal(range_pool_take(&p, 10, 0, NOW + RANGE_POOL_REST_NS), 0);
	assert_int_equal(shares_of(&p.shares, 7), 0);
	assert_int_equal(shares_of(&p.shares, 0), 10);
	range_pool_release(&p);
}

static void test_what_was_not_read_does_not_rest(void **state)
{
	struct range_pool p;

	assert_int_equal(range_pool_init(&p, 10), 0);
	assert_int_equal(range_pool_take(&p, 10, 7, NOW), 0);
	range_pool_cancel(&p, &(struct pool_range){ 0, 10, 7 });
	assert_int_equal(shares_of(&p.shares, 7), 0);
	assert_int_equal(range_pool_take(&p, 10, 0, NOW), 0);
	range_pool_release(&p);
}

/* Each entry is given back at another time, and taken again in that order. */
static void test_many_rest(void **state)
{
	const uint32_t n = 1000;
	struct range_pool p;

	assert_int_equal(range_pool_init(&p, n), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(range_pool_take(&p, 1, 0, NOW), i);
	for (uint32_t round = 0; round < 10; round++) {
		uint64_t now = NOW + round * RANGE_POOL_REST_NS;

		for (uint32_t i = 0; i < n; i++) {
			if (round)
				assert_int_equal(range_pool_take(&p, 1, 0, now + i), i);
			assert_int_equal(range_pool_take(&p, 1, 0, now + i), RANGE_POOL_NONE);
			range_pool_give(&p, &(struct pool_range){ i, 1, 0 }, now + i);
		}
		assert_int_equal(range_pool_resting(&p, 0), n);
	}
	assert_true(p.resting_capacity < 8 * n);
	range_pool_release(&p);
}

static void test_wrong_sizes(void **state)
{
	struct range_pool p;

	assert_int_equal(range_pool_init(&p, 10), 0);
	assert_int_equal(range_pool_take(&p, 0, 0, NOW), RANGE_POOL_NONE);
	assert_int_equal(range_pool_take(&p, 11, 0, NOW), RANGE_POOL_NONE);
	range_pool_release(&p);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_ranges_do_not_overlap),
	cmocka_unit_test(test_what_was_given_back_rests),
	cmocka_unit_test(test_what_was_not_read_does_not_rest),
	cmocka_unit_test(test_many_rest),
	cmocka_unit_test(test_wrong_sizes),
};

UNIT_TESTS(tests);
