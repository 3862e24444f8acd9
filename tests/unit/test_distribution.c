/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/distribution.h"
#include "tests/unit/unit.h"

static void near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.12g is not %.12g +- %g", value, expected, tolerance);
}

static void test_normal(void **state)
{
	near(distribution_normal(0), 0.5, 1e-15);
	near(distribution_normal(1.959963984540054), 0.975, 1e-12);
	near(distribution_normal_inverse(0.975), 1.959963984540054, 1e-9);
	near(distribution_normal_inverse(0.025), -1.959963984540054, 1e-9);
	near(distribution_normal_inverse(1e-10), -6.361340902404056, 1e-6);
	assert_true(isnan(distribution_normal_inverse(0)));
	assert_true(isnan(distribution_normal_inverse(1)));
}

/* Table values of Student's distribution. */
static void test_student(void **state)
{
	near(distribution_student_inverse(0.975, 1), 12.706204736432095, 1e-8);
	near(distribution_student_inverse(0.975, 10), 2.2281388519649385, 1e-9);
	near(distribution_student_inverse(0.975, 100), 1.9839715185235518, 1e-9);
	near(distribution_student_inverse(0.025, 10), -2.2281388519649385, 1e-9);
	near(distribution_student(1, 1), 0.75, 1e-12);
	near(distribution_student(0, 7), 0.5, 1e-12);
	near(distribution_student_inverse(0.9999, 1e6), 3.7190, 1e-3);
	assert_true(isnan(distribution_student_inverse(0.5, 0)));
}

static void test_binomial(void **state)
{
	near(distribution_binomial_tail(0, 10, 0.5), 1, 0);
	near(distribution_binomial_tail(11, 10, 0.5), 0, 0);
	near(distribution_binomial_tail(9, 10, 0.5), 11.0 / 1024, 1e-12);
	near(distribution_binomial_tail(1, 3, 0.1), 1 - 0.729, 1e-12);
	/* A standard deviation above the mean, and four, however many trials: folded stacks may
	 * count 2^53. */
	for (double n = 1e6; n <= 9e15; n *= 100) {
		double deviation = sqrt(n) / 2;

		near(distribution_binomial_tail(n / 2 + deviation, n, 0.5), 0.15866, 3e-4);
		near(distribution_binomial_tail(n / 2 + 4 * deviation, n, 0.5), 3.1671e-5, 2e-7);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_normal),
	cmocka_unit_test(test_student),
	cmocka_unit_test(test_binomial),
};

UNIT_TESTS(tests);
