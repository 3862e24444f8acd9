/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/parquet/dictionary.h"
#include "tests/unit/unit.h"

static void test_order_of_arrival(void **state)
{
	const uint64_t keys[] = { 7, 0, UINT64_MAX, 7, 0, 1, UINT64_MAX, 7 };
	const uint32_t indices[] = { 0, 1, 2, 0, 1, 3, 2, 0 };
	struct dictionary d = { 0 };

	for (unsigned int round = 0; round < 2; round++) {
		for (size_t i = 0; i < 8; i++)
			assert_int_equal(dictionary_index(&d, keys[i]), indices[i]);
		assert_int_equal(d.count, 4);
		assert_true(d.keys[2] == UINT64_MAX);
		dictionary_clear(&d);
		assert_int_equal(d.count, 0);
	}
	dictionary_release(&d);
}

/* Multiples of a power of two are what a weak hash puts into one slot. */
static void test_many(void **state)
{
	struct dictionary d = { 0 };

	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(dictionary_index(&d, i << 40), i);
	for (uint64_t i = 0; i < 100000; i++) {
		assert_int_equal(dictionary_index(&d, i << 40), i);
		assert_true(d.keys[i] == i << 40);
	}
	assert_int_equal(d.count, 100000);
	dictionary_release(&d);
}

/* Multiples of the inverse of 2^64 / golden ratio, whose products with that are small. */
static void test_chosen_keys(void **state)
{
	struct dictionary d = { 0 };
	size_t above = 0;

	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(dictionary_index(&d, i * UINT64_C(0xf1de83e19937733d)), i);
	for (size_t at = d.slot_count / 2; at < d.slot_count; at++)
		above += d.slots[at] != 0;
	/* Half of them, or none if all had the same slot. */
	assert_in_range(above, 100, 900);
	dictionary_release(&d);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_order_of_arrival),
	cmocka_unit_test(test_many),
	cmocka_unit_test(test_chosen_keys),
};
UNIT_TESTS(tests);
