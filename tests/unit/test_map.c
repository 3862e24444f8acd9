/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <stdio.h>

#include "common/map.h"
#include "tests/unit/unit.h"

#define MANY 5000

static size_t key_of(char key[32], unsigned int i)
{
	return (size_t)snprintf(key, 32, "key %u", i);
}

static void test_put_get_remove(void **state)
{
	struct map m = { 0 };
	char key[32];
	bool added;

	assert_null(map_get(&m, "a", 1));
	assert_false(map_remove(&m, "a", 1));
	for (unsigned int i = 0; i < MANY; i++) {
		uint64_t *value = map_put(&m, key, key_of(key, i), &added);

		assert_non_null(value);
		assert_true(added);
		assert_int_equal(*value, 0);
		*value = i;
	}
	assert_int_equal(m.count, MANY);
	assert_non_null(map_put(&m, key, key_of(key, 7), &added));
	assert_false(added);
	for (unsigned int i = 0; i < MANY; i += 2)
		assert_true(map_remove(&m, key, key_of(key, i)));
	assert_int_equal(m.count, MANY / 2);
	for (unsigned int i = 0; i < MANY; i++) {
		const uint64_t *value = map_get(&m, key, key_of(key, i));

		if (i % 2)
			assert_int_equal(*value, i);
		else
			assert_null(value);
	}
	map_release(&m);
	assert_null(map_get(&m, "a", 1));
}

static void test_keys_are_bytes(void **state)
{
	struct map m = { 0 };

	*map_put(&m, "a\0b", 3, NULL) = 1;
	*map_put(&m, "a\0c", 3, NULL) = 2;
	*map_put(&m, "a", 1, NULL) = 3;
	*map_put(&m, "", 0, NULL) = 4;
	assert_int_equal(*map_get(&m, "a\0b", 3), 1);
	assert_int_equal(*map_get(&m, "a\0c", 3), 2);
	assert_int_equal(*map_get(&m, "a", 1), 3);
	assert_int_equal(*map_get(&m, "", 0), 4);
	map_release(&m);
}

static void add_up(const void *key, size_t size, uint64_t value, void *context)
{
	*(uint64_t *)context += value + size;
}

static void test_each(void **state)
{
	struct map m = { 0 };
	uint64_t sum = 0;

	map_each(&m, add_up, &sum);
	assert_int_equal(sum, 0);
	*map_put(&m, "a", 1, NULL) = 10;
	*map_put(&m, "bc", 2, NULL) = 20;
	map_each(&m, add_up, &sum);
	assert_int_equal(sum, 33);
	map_release(&m);
}

static void test_numbers(void **state)
{
	struct map m = { 0 };
	bool added;

	assert_int_equal(map_number(&m, "a", 1, 7, &added), 7);
	assert_true(added);
	assert_int_equal(map_number(&m, "a", 1, 8, &added), 7);
	assert_false(added);
	assert_int_equal(map_number(&m, "b", 1, 8, &added), 8);
	assert_true(added);
	map_release(&m);
}

static void test_release_values(void **state)
{
	struct map m = { 0 };

	/* With the sanitizers a value that is not released fails the test. */
	*map_put(&m, "a", 1, NULL) = (uintptr_t)malloc(1);
	*map_put(&m, "b", 1, NULL) = (uintptr_t)malloc(1);
	map_put(&m, "nothing", 7, NULL);
	map_release_values(&m, free);
	assert_null(m.entries);
	assert_int_equal(m.count, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_put_get_remove), cmocka_unit_test(test_keys_are_bytes),
	cmocka_unit_test(test_each),	       cmocka_unit_test(test_numbers),
	cmocka_unit_test(test_release_values),
};

UNIT_TESTS(tests);
