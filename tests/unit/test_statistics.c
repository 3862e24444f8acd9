/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench/statistics/statistics.h"
#include "tests/unit/unit.h"

static void near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.12g is not %.12g +- %g", value, expected, tolerance);
}

static void test_moments(void **state)
{
	const double x[] = { 2, 4, 4, 4, 5, 5, 7, 9 };

	near(statistics_mean(x, 8), 5, 1e-12);
	near(statistics_variance(x, 8), 32.0 / 7, 1e-12);
	near(statistics_median(x, 8), 4.5, 1e-12);
	assert_true(isnan(statistics_mean(x, 0)));
	assert_true(isnan(statistics_variance(x, 1)));
	assert_true(isnan(statistics_median(x, 0)));
}

/* R: quantile(c(1, 2, 4, 8, 16), c(.1, .25, .5, .9)) */
static void test_quantiles(void **state)
{
	const double x[] = { 1, 2, 4, 8, 16 };

	near(statistics_quantile(x, 5, 0.1), 1.4, 1e-12);
	near(statistics_quantile(x, 5, 0.25), 2, 1e-12);
	near(statistics_quantile(x, 5, 0.5), 4, 1e-12);
	near(statistics_quantile(x, 5, 0.9), 12.8, 1e-12);
	near(statistics_quantile(x, 5, 0), 1, 0);
	near(statistics_quantile(x, 5, 1), 16, 0);
	assert_true(isnan(statistics_quantile(x, 5, 1.5)));
}

/* R: mad(c(1, 1, 2, 2, 4, 6, 9)) is 1.4826 */
static void test_mad(void **state)
{
	const double x[] = { 9, 1, 2, 4, 1, 6, 2 };

	near(statistics_mad(x, 7), 1.4826, 1e-9);
}

static void test_slope(void **state)
{
	const double x[] = { 1, 2, 3 }, y[] = { 2, 3, 7 };

	/* (2 + 6 + 21) / 14 */
	near(statistics_slope(x, y, 3), 29.0 / 14, 1e-12);
	near(statistics_slope_r2(x, (const double[]){ 2, 4, 6 }, 3, 2), 1, 1e-12);
	assert_true(isnan(statistics_slope((const double[]){ 0 }, y, 1)));
}

/* R: summary(lm(c(1, 3, 2, 5) ~ c(1, 2, 3, 4))) */
static void test_line(void **state)
{
	const double x[] = { 1, 2, 3, 4 }, y[] = { 1, 3, 2, 5 };
	struct line line;

	assert_true(statistics_line(x, y, 4, &line));
	near(line.a, 0, 1e-12);
	near(line.b, 1.1, 1e-12);
	near(line.b_error, sqrt(2.7 / 2 / 5), 1e-12);
	near(line.a_error, sqrt(2.7 / 2 * (0.25 + 6.25 / 5)), 1e-12);
	near(line.r2, 1 - 2.7 / 8.75, 1e-12);
	assert_false(statistics_line(x, y, 2, &line));
	assert_false(statistics_line((const double[]){ 1, 1, 1 }, y, 3, &line));
}

static void test_outliers(void **state)
{
	/* Quartiles 3 and 7: fences at -3 and 13, -9 and 19. */
	const double x[] = { 1, 2, 3, 4, 5, 6, 7, 8, 14, 20, -4, -10, 5, 5, 4, 6, 3 };
	struct outliers o = statistics_outliers(x, 17);

	assert_int_equal(o.high_mild, 1);
	assert_int_equal(o.high_severe, 1);
	assert_int_equal(o.low_mild, 1);
	assert_int_equal(o.low_severe, 1);
	assert_int_equal(outliers_total(&o), 4);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_moments), cmocka_unit_test(test_quantiles),
	cmocka_unit_test(test_mad),	cmocka_unit_test(test_slope),
	cmocka_unit_test(test_line),	cmocka_unit_test(test_outliers),
};

UNIT_TESTS(tests);
