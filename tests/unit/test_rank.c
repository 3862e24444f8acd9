/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench/statistics/rank.h"
#include "tests/unit/unit.h"

static void near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.12g is not %.12g +- %g", value, expected, tolerance);
}

/* Order statistics of the sign test: n = 10 takes the 2nd and the 9th, 97.85 %. */
static void test_median(void **state)
{
	const double x[] = { 10, 9, 8, 7, 6, 5, 4, 3, 2, 1 };
	struct rank_median r;

	assert_int_equal(rank_median(x, 10, 0.95, &r), 0);
	near(r.median.value, 5.5, 1e-12);
	near(r.median.low, 2, 0);
	near(r.median.high, 9, 0);
	near(r.coverage, 1 - 22.0 / 1024, 1e-12);
	assert_int_equal(rank_median(x, 6, 0.95, &r), 0);
	near(r.median.low, 5, 0);
	near(r.median.high, 10, 0);
	assert_int_equal(rank_median(x, 5, 0.95, &r), -1);
	assert_int_equal(rank_median(x, 0, 0.95, &r), -1);
}

/* n = 20: the 6th and the 15th, 95.86 %. */
static void test_median_of_twenty(void **state)
{
	struct rank_median r;
	double x[20];

	for (size_t i = 0; i < 20; i++)
		x[i] = (double)(i + 1);
	assert_int_equal(rank_median(x, 20, 0.95, &r), 0);
	near(r.median.low, 6, 0);
	near(r.median.high, 15, 0);
	near(r.coverage, 0.9586, 1e-4);
}

/* So many that 2^-n is no double: the 942nd and the 1059th of 2000, 99.11 %. */
static void test_median_of_thousands(void **state)
{
	static double x[2000];
	struct rank_median r;

	for (size_t i = 0; i < 2000; i++)
		x[i] = (double)(i + 1);
	assert_int_equal(rank_median(x, 2000, 0.99, &r), 0);
	near(r.median.value, 1000.5, 0);
	near(r.median.low, 942, 0);
	near(r.median.high, 1059, 0);
	near(r.coverage, 0.9911251389760949, 1e-9);
}

/* The example of R's ?wilcox.test on depression data: V = 40, p = 0.01953 one-sided. */
static void test_signed_rank(void **state)
{
	const double x[] = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 };
	const double y[] = { 0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 };
	double difference[9];

	for (size_t i = 0; i < 9; i++)
		difference[i] = x[i] - y[i];
	near(signed_rank_p(difference, 9), 0.0390625, 1e-9);
	near(signed_rank_p((const double[]){ 1, 2, 3, 4, 5, 6, 0 }, 7), 2.0 / 64, 1e-12);
	assert_true(isnan(signed_rank_p((const double[]){ 0, 0 }, 2)));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_median),
	cmocka_unit_test(test_median_of_twenty),
	cmocka_unit_test(test_median_of_thousands),
	cmocka_unit_test(test_signed_rank),
};

UNIT_TESTS(tests);
