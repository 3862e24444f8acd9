/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reference values: Bencher's documentation (mean or median 100, standard deviation or range
 * 10) and the vectors of its unit tests.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/gate/threshold.h"
#include "bench/statistics/random.h"
#include "common/distribution.h"
#include "tests/unit/unit.h"

static void near(double value, double expected, double tolerance)
{
	if (!(fabs(value - expected) <= tolerance))
		fail_msg("%.12g is not %.12g +- %g", value, expected, tolerance);
}

static struct limits limits_of(enum threshold_test test, double boundary, const double *values,
			       size_t n)
{
	struct threshold t = { .test = test,
			       .has_lower = true,
			       .has_upper = true,
			       .lower = boundary,
			       .upper = boundary };
	struct limits limits;

	assert_null(threshold_limits(&t, values, n, &limits));
	assert_int_equal(limits.status, THRESHOLD_OK);
	return limits;
}

static enum threshold_status status_of(const struct threshold *t, const double *values, size_t n)
{
	struct limits limits;

	assert_null(threshold_limits(t, values, n, &limits));
	return limits.status;
}

/* 25 values with mean 100 and standard deviation 10. */
static void twenty_five(double *values)
{
	for (size_t i = 0; i < 24; i++)
		values[i] = i % 2 ? 90 : 110;
	values[24] = 100;
}

static struct limits limits_of_25(enum threshold_test test)
{
	double values[25];

	twenty_five(values);
	return limits_of(test, 0.977, values, 25);
}

static void test_percentage(void **state)
{
	const double values[] = { 90, 110, 100 };
	struct limits l = limits_of(THRESHOLD_PERCENTAGE, 0.1, values, 3);

	near(l.baseline, 100, 1e-12);
	near(l.lower, 90, 1e-12);
	near(l.upper, 110, 1e-12);
}

static void test_z_score(void **state)
{
	struct limits l = limits_of_25(THRESHOLD_Z_SCORE);

	near(l.upper, 119.95, 0.005);
	near(l.lower, 80.05, 0.005);
	near(distribution_normal_inverse(0.85), 1.0364333894937896, 1e-9);
}

static void test_t_test(void **state)
{
	const double six[] = { -1.0954451150103321, 1.0954451150103321,	  -1.0954451150103321,
			       1.0954451150103321,  -0.31622776601683794, 0.31622776601683794 };
	struct limits l = limits_of_25(THRESHOLD_T_TEST);

	near(l.upper, 121.46, 0.005);
	near(l.lower, 78.54, 0.005);
	/* six: mean 0, standard deviation 1 */
	l = limits_of(THRESHOLD_T_TEST, 0.85, six, 6);
	near(l.upper, 1.2483714094976244, 1e-9);
	near(l.lower, -1.2483714094976244, 1e-9);
}

static void test_log_normal(void **state)
{
	double values[30];
	struct limits l;

	for (size_t i = 0; i < 30; i++)
		values[i] = (double)(i % 5 + 1);
	l = limits_of(THRESHOLD_LOG_NORMAL, 0.85, values, 30);
	near(l.baseline, 2.6051710846973517, 1e-9);
	near(l.upper, 4.743123524143551, 1e-9);
	near(l.lower, 0.467218645251152, 1e-9);
}

static void test_iqr(void **state)
{
	const double values[] = { 110, 95, 100, 90, 105 };
	struct limits l = limits_of(THRESHOLD_IQR, 2, values, 5);

	near(l.upper, 120, 1e-12);
	near(l.lower, 80, 1e-12);
}

static void test_delta_iqr(void **state)
{
	/* Relative steps 0.4, 0.3, 0.2, 0.1, 0: their interquartile range is 0.2. */
	double values[] = { 1, 1.4, 0.98, 1.176, 1.0584, 1.0584 };
	struct limits l;

	for (size_t i = 0; i < 6; i++)
		values[i] *= 100 / 1.0584;
	l = limits_of(THRESHOLD_DELTA_IQR, 2, values, 6);
	near(l.upper, 140, 1e-9);
	near(l.lower, 60, 1e-9);
}

static void test_static(void **state)
{
	struct threshold t = { .test = THRESHOLD_STATIC, .has_upper = true, .upper = 7 };
	struct limits l;

	assert_null(threshold_limits(&t, NULL, 0, &l));
	assert_int_equal(l.status, THRESHOLD_OK);
	assert_int_equal(limits_judge(&l, &t, 7), LIMITS_HOLD);
	assert_int_equal(limits_judge(&l, &t, 7.001), LIMITS_BROKEN);
	assert_int_equal(limits_judge(&l, &t, -1000), LIMITS_HOLD);
	assert_int_equal(limits_judge(&l, &t, NAN), LIMITS_BROKEN);
}

static void test_what_cannot_be_judged(void **state)
{
	const double constant[] = { 5, 5, 5 }, negative[] = { 1, -1, 2 };
	struct threshold t = { .test = THRESHOLD_T_TEST, .has_upper = true, .upper = 0.99 };
	struct limits l;

	assert_int_equal(status_of(&t, constant, 3), THRESHOLD_NO_VARIANCE);
	assert_int_equal(status_of(&t, constant, 1), THRESHOLD_TOO_FEW);
	t.test = THRESHOLD_Z_SCORE;
	assert_int_equal(status_of(&t, constant, 3), THRESHOLD_NO_VARIANCE);
	t.test = THRESHOLD_LOG_NORMAL;
	assert_int_equal(status_of(&t, constant, 3), THRESHOLD_NO_VARIANCE);
	assert_int_equal(status_of(&t, negative, 3), THRESHOLD_NOT_POSITIVE);
	t.test = THRESHOLD_DELTA_IQR;
	assert_int_equal(status_of(&t, constant, 1), THRESHOLD_TOO_FEW);
	t.test = THRESHOLD_PERCENTAGE;
	assert_int_equal(status_of(&t, constant, 0), THRESHOLD_TOO_FEW);
	assert_int_equal(threshold_needed(&t), 1);
	t.least = 4;
	assert_int_equal(status_of(&t, constant, 3), THRESHOLD_TOO_FEW);
	assert_int_equal(threshold_needed(&t), 4);
	t = (struct threshold){ .test = THRESHOLD_T_TEST, .least = 1 };
	assert_int_equal(threshold_needed(&t), 2);
	t.test = THRESHOLD_STATIC;
	assert_int_equal(threshold_needed(&t), 0);
	/* A constant history does judge by range: any rise is one. */
	t = (struct threshold){ .test = THRESHOLD_IQR, .has_upper = true, .upper = 3 };
	assert_null(threshold_limits(&t, constant, 3, &l));
	assert_int_equal(limits_judge(&l, &t, 5), LIMITS_HOLD);
	assert_int_equal(limits_judge(&l, &t, 5.0001), LIMITS_BROKEN);
}

/* Limits that are no numbers would let everything pass. */
static void test_overflow(void **state)
{
	const double huge[] = { 1.5e308, 1.6e308, 1.5e308 }, far[] = { 1e-300, 1e300, 1e-300 };
	struct threshold t = { .has_upper = true, .upper = 0.9 };

	for (int test = THRESHOLD_PERCENTAGE; test <= THRESHOLD_T_TEST; test++) {
		t.test = test;
		assert_int_equal(status_of(&t, huge, 3), THRESHOLD_OVERFLOW);
	}
	t.test = THRESHOLD_LOG_NORMAL;
	assert_int_equal(status_of(&t, far, 3), THRESHOLD_OVERFLOW);
}

/* Steps 0.2, 1, 0 from 0 to 0, one without a limit, 0.2, 1/6: their interquartile range is 0.625.
 */
static void test_step_from_zero(void **state)
{
	const double values[] = { 10, 12, 0, 0, 15, 12, 10 };
	struct limits l = limits_of(THRESHOLD_DELTA_IQR, 2, values, 7);

	near(l.baseline, 10, 1e-12);
	near(l.upper, 22.5, 1e-9);
}

static void test_most_uses_the_last(void **state)
{
	const double values[] = { 1, 1, 1, 200, 100 };
	struct threshold t = {
		.test = THRESHOLD_PERCENTAGE, .has_upper = true, .upper = 0.5, .most = 1
	};
	struct limits l;

	assert_null(threshold_limits(&t, values, 5, &l));
	near(l.upper, 150, 1e-12);
	t.most = 2;
	assert_null(threshold_limits(&t, values, 5, &l));
	near(l.upper, 225, 1e-12);
}

/* `find` passes nothing that could be larger; by Student's 99 % and 99.99 % with 24 of freedom. */
static void test_find(void **state)
{
	struct threshold t = {
		.test = THRESHOLD_T_TEST, .has_upper = true, .upper = 0.9999, .find = 0.1
	};
	double values[25];
	struct limits l;

	twenty_five(values); /* a spread of 10 %: more than is to be found */
	assert_null(threshold_limits(&t, values, 25, &l));
	assert_int_equal(limits_judge(&l, &t, 100), LIMITS_BLURRED);
	assert_int_equal(limits_judge(&l, &t, 110), LIMITS_BLURRED);
	assert_int_equal(limits_judge(&l, &t, 150), LIMITS_BROKEN);
	assert_int_equal(limits_needed(&l, &t, 100, 25), 0);
	t.find = 0.5;
	near(l.blur, 25.415, 0.01);
	assert_int_equal(limits_judge(&l, &t, 124.5), LIMITS_HOLD);
	assert_int_equal(limits_judge(&l, &t, 124.7), LIMITS_BLURRED);
	/* With 24.8 there would be a clear answer, which takes more values than 25. */
	assert_in_range(limits_needed(&l, &t, 125.1, 25), 26, 60);
	t.find = 0;
	assert_int_equal(limits_judge(&l, &t, 110), LIMITS_HOLD);
	t = (struct threshold){ .test = THRESHOLD_IQR, .has_upper = true, .upper = 3, .find = 0.1 };
	assert_null(threshold_limits(&t, values, 25, &l));
	assert_int_equal(limits_judge(&l, &t, 110), LIMITS_BLURRED);
}

/* What the shipped rule does on machines of every kind: by `spread` and by the true change. */
static void shipped_rule(double spread, double change, size_t *fine, size_t *found)
{
	const struct threshold t = {
		.test = THRESHOLD_T_TEST, .has_upper = true, .upper = 0.9999, .find = 0.1
	};
	struct random r;

	random_seed(&r, 7);
	*fine = *found = 0;
	for (size_t i = 0; i < 2000; i++) {
		double values[20];
		enum limits_verdict verdict;
		struct limits l;

		for (size_t j = 0; j < 20; j++)
			values[j] = 100 * exp(spread * random_normal(&r));
		assert_null(threshold_limits(&t, values, 20, &l));
		verdict = limits_judge(&l, &t,
				       100 * (1 + change) * exp(spread * random_normal(&r)));
		*fine += verdict == LIMITS_HOLD;
		*found += verdict == LIMITS_BROKEN;
	}
}

static void test_shipped_rule(void **state)
{
	static const double spreads[] = { 0.005, 0.01, 0.02, 0.05, 0.1 };
	size_t fine, found;

	for (size_t i = 0; i < sizeof(spreads) / sizeof(*spreads); i++) {
		shipped_rule(spreads[i], 0, &fine, &found);
		assert_true(found <= 2); /* of 2000 that are equal */
		/* One value in a hundred may pass at just the size that is to be found. */
		shipped_rule(spreads[i], 0.1, &fine, &found);
		assert_true(fine <= 35);
		shipped_rule(spreads[i], 0.2, &fine, &found);
		assert_true(fine <= 5);
	}
	shipped_rule(0.01, 0, &fine, &found);
	assert_true(fine >= 1950);
	shipped_rule(0.01, 0.1, &fine, &found);
	assert_true(found >= 1950);
}

/* More values than there is memory for a copy of: an error, and no judgement. */
static void test_no_memory(void **state)
{
#ifdef __SANITIZE_ADDRESS__
	skip(); /* its malloc() ends the program */
#else
	const size_t n = 32 << 20;
	double *values = malloc(n * sizeof(*values));
	struct rlimit before, none;
	struct limits l;

	assert_non_null(values);
	for (size_t i = 0; i < n; i++)
		values[i] = (double)(i % 7 + 1);
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	none = before;
	none.rlim_cur = 1 << 20;
	for (int test = THRESHOLD_PERCENTAGE; test < THRESHOLD_TESTS; test++) {
		const struct threshold t = {
			.test = test, .has_upper = true, .lower = 0.9, .upper = 0.9
		};
		struct error *error;

		assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
		error = threshold_limits(&t, values, n, &l);
		assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
		assert_non_null(error);
		assert_int_equal(error->kind, ERROR_MEMORY);
		error_free(error);
	}
	free(values);
#endif
}

static struct error *read_text(struct thresholds *t, const char *text)
{
	char path[] = "/tmp/test_threshold.XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	struct error *error;

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	error = thresholds_read(t, path);
	unlink(path);
	return error;
}

static void test_file(void **state)
{
	struct thresholds t = { 0 };
	const struct threshold *found;

	assert_null(read_text(&t, "# comment\n\n"
				  "format/* latency t_test - 0.99 min=5 max=64 window=30d\n"
				  "* instructions percentage 0.05 0.01 max=1\n"));
	assert_int_equal(t.count, 2);
	found = thresholds_find(&t, "format/encode", "latency");
	assert_ptr_equal(found, &t.all[0]);
	assert_false(found->has_lower);
	assert_int_equal(found->least, 5);
	assert_int_equal(found->most, 64);
	assert_int_equal(found->window, 30 * 86400);
	assert_ptr_equal(thresholds_find(&t, "format/encode", "instructions"), &t.all[1]);
	assert_null(thresholds_find(&t, "report/whole", "latency"));
	thresholds_release(&t);
}

static void test_bad_files(void **state)
{
	static const char *const bad[] = {
		"",
		"# nothing\n",
		"* latency t_test -\n",
		"* latency u_test - 0.99\n",
		"* latency t_test - -\n",
		"* latency t_test - 1\n",
		"* latency z_score 0.4 -\n",
		"* latency percentage - -0.1\n",
		"* latency percentage - 10%\n",
		"* latency percentage - nan\n",
		"* latency percentage - 0.1 max=0\n",
		"* latency percentage - 0.1 max=-1\n",
		"* latency percentage - 0.1 min=9 max=3\n",
		"* latency percentage - 0.1 window=3y\n",
		"* latency static 3 2\n",
		"* latency static - 2 max=4\n",
		"* latency t_test - 0.99 find=0\n",
		"* latency t_test - 0.99 find=10%\n",
		"* latency t_test - 0.99 find=10\n",
		"* latency percentage - 0.1 find=0.1\n",
	};
	struct thresholds t = { 0 };
	struct error *error;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		error = read_text(&t, bad[i]);
		if (!error)
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(error->kind, ERROR_ARGUMENT);
		error_free(error);
		assert_int_equal(t.count, 0);
	}
	error = thresholds_read(&t, "/nonexistent/thresholds");
	assert_true(error_is(error, ENOENT));
	error_free(error);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_percentage),
	cmocka_unit_test(test_z_score),
	cmocka_unit_test(test_t_test),
	cmocka_unit_test(test_log_normal),
	cmocka_unit_test(test_iqr),
	cmocka_unit_test(test_delta_iqr),
	cmocka_unit_test(test_static),
	cmocka_unit_test(test_what_cannot_be_judged),
	cmocka_unit_test(test_overflow),
	cmocka_unit_test(test_step_from_zero),
	cmocka_unit_test(test_most_uses_the_last),
	cmocka_unit_test(test_find),
	cmocka_unit_test(test_shipped_rule),
	cmocka_unit_test(test_no_memory),
	cmocka_unit_test(test_file),
	cmocka_unit_test(test_bad_files),
};

UNIT_TESTS(tests);
