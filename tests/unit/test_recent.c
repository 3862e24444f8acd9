/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/recent.h"
#include "tests/unit/unit.h"

#define MAX 100

static void test_what_is_new_gets_the_next_number(void **state)
{
	struct recent r;

	recent_init(&r, MAX);
	assert_int_equal(recent_put(&r, 1, 2, 0), 0);
	assert_int_equal(recent_put(&r, 2, 1, 1), 1);
	assert_int_equal(recent_put(&r, 1, 1, 2), 2);
	assert_int_equal(recent_put(&r, 1, 2, 3), 0);
	assert_int_equal(recent_put(&r, UINT64_MAX, 0, 1u << 26), 1u << 26);
	recent_release(&r);
	assert_int_equal(recent_put(&r, 1, 2, 7), 7);
	recent_release(&r);
}

/* Between two uses of one there are as many others as there may be, half of them new. */
static void test_the_last_ones_are_known(void **state)
{
	struct recent r;
	uint32_t next = 0;

	recent_init(&r, MAX);
	for (uint32_t i = 0; i < 50 * MAX; i++) {
		uint32_t back = i < MAX / 2 ? i : MAX / 2 - 1;

		assert_int_equal(recent_put(&r, i, i % 7, next), i);
		next++;
		assert_int_equal(recent_put(&r, i - back, (i - back) % 7, next), i - back);
	}
	recent_release(&r);
}

static void test_one_that_is_used_stays(void **state)
{
	struct recent r;

	recent_init(&r, MAX);
	assert_int_equal(recent_put(&r, UINT64_MAX, 0, 0), 0);
	for (uint32_t i = 1; i < 50 * MAX; i++) {
		assert_int_equal(recent_put(&r, i, 0, i), i);
		if (i % MAX == 0)
			assert_int_equal(recent_put(&r, UINT64_MAX, 0, 50 * MAX), 0);
	}
	recent_release(&r);
}

static void test_the_others_are_forgotten(void **state)
{
	struct recent r;
	size_t capacity = 0;

	recent_init(&r, MAX);
	for (uint32_t i = 0; i < 50 * MAX; i++) {
		recent_put(&r, i, 0, i);
		if (r.young.capacity + r.old.capacity > capacity)
			capacity = r.young.capacity + r.old.capacity;
	}
	assert_int_equal(capacity, 2 * 256);
	assert_int_equal(recent_put(&r, 0, 0, 77), 77);
	recent_release(&r);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_what_is_new_gets_the_next_number),
	cmocka_unit_test(test_the_last_ones_are_known),
	cmocka_unit_test(test_one_that_is_used_stays),
	cmocka_unit_test(test_the_others_are_forgotten),
};

UNIT_TESTS(tests);
