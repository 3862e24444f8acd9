/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "common/hash_seed.h"
#include "tests/unit/unit.h"

static uint64_t seed_for(const char *wanted)
{
	assert_int_equal(setenv("PROF_HASH_SEED", wanted, 1), 0);
	return hash_seed();
}

static void test_wanted(void **state)
{
	uint64_t one = seed_for("1");

	assert_true(seed_for("1") == one);
	assert_true(seed_for("2") != one);
	assert_true(seed_for("0") && seed_for("") && seed_for("18446744073709551615"));
}

static void test_random(void **state)
{
	uint64_t one;

	assert_int_equal(unsetenv("PROF_HASH_SEED"), 0);
	one = hash_seed();
	assert_true(one && hash_seed() != one);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_wanted),
	cmocka_unit_test(test_random),
};

UNIT_TESTS(tests);
