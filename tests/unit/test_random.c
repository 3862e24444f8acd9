/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench/statistics/random.h"
#include "tests/unit/unit.h"

static void near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.12g is not %.12g +- %g", value, expected, tolerance);
}

/* The first numbers of xoshiro256** seeded by splitmix64 of 0, as its authors' code gives. */
static void test_reference(void **state)
{
	struct random r;

	random_seed(&r, 0);
	assert_true(r.state[0] == 0xe220a8397b1dcdaf);
	assert_true(r.state[1] == 0x6e789e6aa1b965f4);
	assert_true(random_next(&r) == 0x99ec5f36cb75f2b4);
}

static void test_ranges(void **state)
{
	double sum = 0, squares = 0;
	size_t counts[10] = { 0 };
	struct random r;

	random_seed(&r, 42);
	for (size_t i = 0; i < 100000; i++) {
		double unit = random_unit(&r), normal = random_normal(&r);

		assert_true(unit >= 0 && unit < 1);
		counts[random_below(&r, 10)]++;
		sum += normal;
		squares += normal * normal;
	}
	for (size_t i = 0; i < 10; i++)
		near((double)counts[i], 10000, 500);
	near(sum / 1e5, 0, 0.02);
	near(squares / 1e5, 1, 0.03);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_reference),
	cmocka_unit_test(test_ranges),
};

UNIT_TESTS(tests);
