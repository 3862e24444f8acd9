/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench/statistics/bootstrap.h"
#include "bench/statistics/random.h"
#include "tests/unit/unit.h"

static void near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.12g is not %.12g +- %g", value, expected, tolerance);
}

#define N 5
#define OUTCOMES 3125 /* N to the N: all resamples there are */

static const struct bootstrap options = { .seed = 7, .resamples = 50000, .confidence = 0.95 };
static const double five[N] = { 1, 2, 4, 7, 11 };

/* The exact distribution of a statistic over all resamples. */
static void enumerate(double (*statistic)(const double *x, size_t n), double *sorted)
{
	for (size_t i = 0; i < OUTCOMES; i++) {
		double drawn[N];

		for (size_t j = 0, rest = i; j < N; j++, rest /= N)
			drawn[j] = five[rest % N];
		sorted[i] = statistic(drawn, N);
	}
	statistics_sort(sorted, OUTCOMES);
}

static void agrees(const struct estimate *e, double (*statistic)(const double *x, size_t n))
{
	static double sorted[OUTCOMES];

	enumerate(statistic, sorted);
	near(e->value, statistic(five, N), 1e-12);
	/* Between the quantiles a little to both sides of the wanted ones. */
	assert_true(e->low >= statistics_quantile(sorted, OUTCOMES, 0.022));
	assert_true(e->low <= statistics_quantile(sorted, OUTCOMES, 0.028));
	assert_true(e->high >= statistics_quantile(sorted, OUTCOMES, 0.972));
	assert_true(e->high <= statistics_quantile(sorted, OUTCOMES, 0.978));
}

static void test_exact(void **state)
{
	struct bootstrap_estimates e;
	struct estimate median;

	assert_int_equal(bootstrap_estimates(&options, five, N, &e), 0);
	agrees(&e.mean, statistics_mean);
	agrees(&e.median, statistics_median);
	agrees(&e.deviation, statistics_deviation);
	agrees(&e.mad, statistics_mad);
	assert_int_equal(bootstrap_median(&options, five, N, &median), 0);
	agrees(&median, statistics_median);
}

static void test_seed(void **state)
{
	struct bootstrap other = options;
	struct bootstrap_estimates a, b, c;
	struct random r;
	double x[40];

	random_seed(&r, 9);
	for (size_t i = 0; i < 40; i++)
		x[i] = random_normal(&r);
	other.seed++;
	assert_int_equal(bootstrap_estimates(&options, x, 40, &a), 0);
	assert_int_equal(bootstrap_estimates(&options, x, 40, &b), 0);
	assert_int_equal(bootstrap_estimates(&other, x, 40, &c), 0);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_true(a.mean.low != c.mean.low);
}

/* y = 3 x with noise that grows with x: the interval holds the truth and is narrow. */
static void test_slope_and_line(void **state)
{
	double x[100], y[100];
	const struct points points = { x, y, 100 };
	struct bootstrap_line line;
	struct estimate slope;
	struct random r;

	random_seed(&r, 1);
	for (size_t i = 0; i < 100; i++) {
		x[i] = (double)(i + 1);
		y[i] = 3 * x[i] + random_normal(&r);
	}
	assert_int_equal(bootstrap_slope(&options, &points, &slope), 0);
	assert_true(slope.low < 3 && slope.high > 3);
	assert_true(slope.high - slope.low < 0.02);
	assert_int_equal(bootstrap_line(&options, &points, &line), 0);
	assert_true(line.a.low < 0 && line.a.high > 0);
	assert_true(line.b.low < 3 && line.b.high > 3);
	/* Standard errors times 3.92, by the formula for ordinary least squares. */
	near(line.b.high - line.b.low, 3.92 * 1 / sqrt(83325.0), 0.004);
}

static void test_change(void **state)
{
	double before[100], same[100], slower[100];
	const struct bootstrap_group first = { before, 100 }, equal = { same, 100 },
				     second = { slower, 100 };
	struct bootstrap_change change;
	struct random r;

	random_seed(&r, 3);
	for (size_t i = 0; i < 100; i++) {
		before[i] = 100 + random_normal(&r);
		same[i] = 100 + random_normal(&r);
		slower[i] = 105 + random_normal(&r);
	}
	assert_int_equal(bootstrap_change(&options, &first, &second, &change), 0);
	near(change.mean.value, 0.05, 0.005);
	near(change.median.value, 0.05, 0.005);
	assert_true(change.mean.low > 0.04 && change.mean.high < 0.06);
	assert_true(change.p < 0.001);
	assert_int_equal(bootstrap_change(&options, &first, &equal, &change), 0);
	assert_true(change.mean.low > -0.01 && change.mean.high < 0.01);
	assert_true(change.p > 0.01);
	assert_int_equal(bootstrap_change(&options, &first, &first, &change), 0);
	near(change.p, 1, 0);
}

/* The pooled p of two groups is near that of Welch's t test: t = 2, 18 degrees, p = 0.061. */
static void test_p(void **state)
{
	double x[10], y[10];
	const struct bootstrap_group first = { x, 10 }, second = { y, 10 };
	struct bootstrap_change change;

	for (size_t i = 0; i < 10; i++) {
		x[i] = (double)i;
		y[i] = (double)i + 2 * 1.353965; /* twice the error of the difference */
	}
	assert_int_equal(bootstrap_change(&options, &first, &second, &change), 0);
	near(change.t, 2, 0.001);
	near(change.p, 0.061, 0.015);
}

static void test_too_few(void **state)
{
	const struct bootstrap_group one = { five, 1 }, all = { five, 5 };
	struct bootstrap_estimates e;
	struct bootstrap_change change;
	struct bootstrap_line line;
	struct estimate a;

	assert_int_equal(bootstrap_estimates(&options, five, 1, &e), -1);
	assert_int_equal(bootstrap_median(&options, five, 0, &a), -1);
	assert_int_equal(bootstrap_slope(&options, &(struct points){ five, five, 1 }, &a), -1);
	assert_int_equal(bootstrap_line(&options, &(struct points){ five, five, 2 }, &line), -1);
	assert_int_equal(bootstrap_change(&options, &one, &all, &change), -1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_exact),
	cmocka_unit_test(test_seed),
	cmocka_unit_test(test_slope_and_line),
	cmocka_unit_test(test_change),
	cmocka_unit_test(test_p),
	cmocka_unit_test(test_too_few),
};

UNIT_TESTS(tests);
