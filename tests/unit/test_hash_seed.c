/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/hash_seed.h"
#include "tests/unit/unit.h"

static uint64_t fixed_by(uint64_t number)
{
	hash_seed_fix(number);
	return hash_seed();
}

static void test_random_until_it_is_fixed(void **state)
{
	uint64_t one = hash_seed();

	assert_true(one & 1);
	assert_true(hash_seed() != one);
	one = fixed_by(1);
	assert_true(hash_seed() == one);
	assert_true(fixed_by(2) != one);
	assert_true(fixed_by(1) == one);
	assert_true(fixed_by(0) && fixed_by(UINT64_MAX));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_random_until_it_is_fixed),
};

UNIT_TESTS(tests);
