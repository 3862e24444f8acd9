/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bench/rank.h"

static void near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.12g is not %.12g +- %g", value, expected, tolerance);
}

/* The example of R's ?wilcox.test: W = 35, p = 0.1272 one-sided; no ties. */
static void test_mann_whitney_exact(void **state)
{
	const double x[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 };
	const double y[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
	struct mann_whitney result;

	assert_int_equal(mann_whitney(x, 10, y, 5, &result), 0);
	assert_true(result.exact);
	near(result.u, 35, 0);
	near(result.p, 2 * 0.1272, 2e-4);
}

/* All arrangements are equally likely: two of the C(n + m, n) are this far apart. */
static void test_mann_whitney_apart(void **state)
{
	double x[50], y[50];
	struct mann_whitney result;

	for (size_t i = 0; i < 50; i++) {
		x[i] = (double)i;
		y[i] = (double)i + 1000;
	}
	assert_int_equal(mann_whitney(x, 5, y, 5, &result), 0);
	near(result.p, 2.0 / 252, 1e-12);
	assert_int_equal(mann_whitney(y, 3, x, 4, &result), 0);
	near(result.p, 2.0 / 35, 1e-12);
	near(result.u, 12, 0);
	assert_int_equal(mann_whitney(x, 50, y, 50, &result), 0);
	assert_true(result.exact);
	assert_true(result.p > 0 && result.p < 1e-28);
	assert_int_equal(mann_whitney(x, 0, y, 5, &result), -1);
}

/*
 * Ties: ranks 1.5 1.5 4 4 4 6 7 8; the first group's are 1.5, 4, 6 and 7. Variance
 * 16 / 12 * (9 - 30 / 56); |18.5 - 10 - 8| = 0.5 less 0.5.
 */
static void test_mann_whitney_ties(void **state)
{
	const double x[] = { 1, 2, 3, 4 }, y[] = { 1, 2, 2, 5 };
	struct mann_whitney result;

	assert_int_equal(mann_whitney(x, 4, y, 4, &result), 0);
	assert_false(result.exact);
	near(result.u, 8.5, 0);
	near(result.p, 1, 1e-12);
	assert_int_equal(mann_whitney((const double[]){ 1, 1, 1 }, 3, (const double[]){ 2, 2, 2 }, 3,
				      &result),
			 0);
	/* Variance 9 / 12 * (7 - 48 / 30), distance 4: z = 4 / sqrt(4.05) */
	near(result.p, erfc(4 / sqrt(4.05) / sqrt(2)), 1e-12);
	assert_int_equal(mann_whitney((const double[]){ 1, 1 }, 2, (const double[]){ 1, 1 }, 2, &result),
			 0);
	near(result.p, 1, 0);
}

/* The normal approximation is near the exact count where both exist. */
static void test_mann_whitney_normal(void **state)
{
	double x[51], y[50];
	struct mann_whitney exact, normal;

	for (size_t i = 0; i < 51; i++)
		x[i] = (double)(i * 37 % 101) + 8.25;
	for (size_t i = 0; i < 50; i++)
		y[i] = (double)(i * 41 % 103);
	assert_int_equal(mann_whitney(x, 50, y, 50, &exact), 0);
	assert_int_equal(mann_whitney(x, 51, y, 50, &normal), 0);
	assert_true(exact.exact);
	assert_false(normal.exact);
	near(normal.p, exact.p, 0.03);
}

/* Order statistics of the sign test: n = 10 takes the 2nd and the 9th, 97.85 %. */
static void test_median(void **state)
{
	const double x[] = { 10, 9, 8, 7, 6, 5, 4, 3, 2, 1 };
	struct estimate median;
	double coverage;

	assert_int_equal(rank_median(x, 10, 0.95, &median, &coverage), 0);
	near(median.value, 5.5, 1e-12);
	near(median.low, 2, 0);
	near(median.high, 9, 0);
	near(coverage, 1 - 22.0 / 1024, 1e-12);
	assert_int_equal(rank_median(x, 6, 0.95, &median, &coverage), 0);
	near(median.low, 5, 0);
	near(median.high, 10, 0);
	assert_int_equal(rank_median(x, 5, 0.95, &median, &coverage), -1);
	assert_int_equal(rank_median(x, 0, 0.95, &median, NULL), -1);
}

/* n = 20: the 6th and the 15th, 95.86 %. */
static void test_median_of_twenty(void **state)
{
	double x[20], coverage;
	struct estimate median;

	for (size_t i = 0; i < 20; i++)
		x[i] = (double)(i + 1);
	assert_int_equal(rank_median(x, 20, 0.95, &median, &coverage), 0);
	near(median.low, 6, 0);
	near(median.high, 15, 0);
	near(coverage, 0.9586, 1e-4);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mann_whitney_exact),
		cmocka_unit_test(test_mann_whitney_apart),
		cmocka_unit_test(test_mann_whitney_ties),
		cmocka_unit_test(test_mann_whitney_normal),
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_median_of_twenty),
		cmocka_unit_test(test_signed_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
