/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>

#include "common/array.h"
#include "tests/unit/unit.h"

static void test_grows_and_keeps(void **state)
{
	uint32_t *list = NULL;
	size_t capacity = 0, growths = 0;

	for (uint32_t i = 0; i < 10000; i++) {
		size_t before = capacity;

		assert_true(array_reserve(&list, &capacity, i + 1));
		assert_true(capacity > i);
		growths += capacity != before;
		list[i] = i;
	}
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(list[i], i);
	assert_true(growths < 20);
	assert_true(array_reserve(&list, &capacity, 1000000));
	assert_true(capacity >= 1000000);
	assert_int_equal(list[9999], 9999);
	free(list);
}

static void test_failure_changes_nothing(void **state)
{
	uint64_t *list = NULL;
	size_t capacity = 0;

	assert_true(array_reserve(&list, &capacity, 1));
	list[0] = 7;
	assert_false(array_reserve(&list, &capacity, SIZE_MAX / 4)); /* more than can be counted */
	assert_int_equal(list[0], 7);
	assert_true(capacity > 0 && capacity < 100);
	free(list);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_grows_and_keeps),
	cmocka_unit_test(test_failure_changes_nothing),
};

UNIT_TESTS(tests);
