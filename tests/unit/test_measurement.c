/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/measure/baseline.h"
#include "bench/measure/measurement.h"
#include "tests/unit/unit.h"

static const struct measurement_options options = { .seconds = 1,
						    .warm_up_seconds = 0.001,
						    .count = 100 };

/* 100 measurements of d, 2d, ... 100d iterations that take about a second: d = 1e9/1e3/5050. */
static void test_linear(void **state)
{
	struct measurement m = { 0 };

	assert_int_equal(measurement_plan(&m, &options, 1000), 0);
	assert_true(m.linear);
	assert_true(m.iterations[0] == 199);
	assert_true(m.iterations[99] == 19900);
	assert_true(m.needed_seconds == 0);
	measurement_release(&m);
}

/* Too slow for a rising number, which would take 5050 iterations: as many each time. */
static void test_flat(void **state)
{
	static const struct {
		double ns, needed_seconds;
		uint64_t iterations;
		size_t fitting;
	} cases[] = { { 1e6, 0, 10, 0 }, { 1e8, 10, 1, 10 } };

	for (size_t i = 0; i < 2; i++) {
		struct measurement m = { 0 };

		assert_int_equal(measurement_plan(&m, &options, cases[i].ns), 0);
		assert_false(m.linear);
		assert_true(m.iterations[0] == cases[i].iterations);
		assert_true(m.iterations[99] == cases[i].iterations);
		assert_true(fabs(m.needed_seconds - cases[i].needed_seconds) < 0.11);
		assert_int_equal(m.needed_seconds > 0, cases[i].needed_seconds > 0);
		assert_int_equal(m.fitting_count, cases[i].fitting);
		measurement_release(&m);
	}
}

/* A constant part of each measurement is not in the slope of well spread iterations. */
static void test_summary(void **state)
{
	const struct bootstrap bootstrap = { 1, 1000, 0.95 };
	struct measurement_summary summary;
	struct measurement m = { 0 };

	assert_int_equal(measurement_plan(&m, &options, 1000), 0);
	for (size_t i = 0; i < m.n; i++)
		m.ns[i] = m.iterations[i] * (1000 + (double)(i % 3));
	assert_int_equal(measurement_summarize(&m, &bootstrap, &summary), 0);
	assert_true(fabs(summary.typical.value - 1001) < 0.2);
	assert_true(summary.typical.low <= summary.typical.value);
	assert_true(summary.typical.high >= summary.typical.value);
	assert_true(summary.r2 > 0.999);
	assert_int_equal(outliers_total(&summary.outliers), 0);
	measurement_release(&m);
}

static uint64_t done;

static void count(void *state, uint64_t iterations)
{
	while (iterations--) {
		done++;
		benchmark_keep(&done);
	}
}

static void test_take(void **state)
{
	const struct benchmark b = { .name = "count", .run = count };
	const struct measurement_options few = { .seconds = 1e-4,
						 .warm_up_seconds = 1e-5,
						 .count = 5 };
	struct measurement m = { 0 };
	double planned = 0;

	done = 0;
	assert_int_equal(measurement_take(&m, &few, &b, NULL), 0);
	for (size_t i = 0; i < m.n; i++)
		planned += m.iterations[i];
	assert_int_equal(m.n, 5);
	assert_true((double)done > planned); /* and the warm-up */
	measurement_release(&m);
}

/* By the CPU time of children that there are none of, also warming up ends. */
static void test_no_cpu_time(void **state)
{
	const struct benchmark b = { .name = "count", .run = count, .in_children = true };
	const struct measurement_options few = {
		.seconds = 1e-4, .warm_up_seconds = 1e-5, .count = 5, .cpu_time = true
	};
	struct measurement m = { 0 };

	alarm(60);
	assert_int_equal(measurement_take(&m, &few, &b, NULL), 0);
	alarm(0);
	assert_true(m.ns[0] == 0);
	measurement_release(&m);
}

/* A run in which the loop and the benchmark took so long, give or take a little. */
static struct measurement run_of(double reference, double ns, double waited)
{
	struct measurement m = { 0 };

	assert_int_equal(measurement_plan(&m, &options, 1000), 0);
	for (size_t i = 0; i < m.n; i++) {
		m.reference[i] = reference * (1 + 0.001 * (double)(i % 10));
		m.ns[i] = m.iterations[i] * ns * (1 + 0.002 * (double)(i % 7));
	}
	m.waited = waited;
	return m;
}

static void expect_change(struct measurement before, struct measurement now,
			  enum measurement_comparable comparable, double noise)
{
	const struct bootstrap bootstrap = { 1, 1000, 0.95 };
	struct measurement_change c;

	assert_int_equal(measurement_compare(&bootstrap, &before, &now, &c), 0);
	assert_int_equal(c.comparable, comparable);
	assert_true(noise == 0 || (c.noise > 0.9 * noise && c.noise < 1.1 * noise));
	measurement_release(&before);
	measurement_release(&now);
}

static void test_compare(void **state)
{
	struct measurement without = run_of(1, 1000, 0);

	expect_change(run_of(50000, 1000, 0), run_of(50000, 1100, 0), MEASUREMENT_COMPARABLE, 0.01);
	/* The machine is 4 % slower: a change of the benchmark by as much does not count. */
	expect_change(run_of(50000, 1000, 0), run_of(52000, 1100, 0), MEASUREMENT_COMPARABLE, 0.04);
	expect_change(run_of(50000, 1000, 0), run_of(60000, 1100, 0), MEASUREMENT_OTHER_SPEED, 0);
	expect_change(run_of(50000, 1000, 0), run_of(50000, 1100, 0.1), MEASUREMENT_DISTURBED, 0);
	expect_change(run_of(50000, 1000, 0.1), run_of(50000, 1100, 0), MEASUREMENT_WAS_DISTURBED,
		      0);
	/* Where the kernel does not say it, no run is known to be undisturbed. */
	expect_change(run_of(50000, 1000, 0), run_of(50000, 1100, NAN), MEASUREMENT_DISTURBED, 0);
	expect_change(run_of(50000, 1000, NAN), run_of(50000, 1100, 0), MEASUREMENT_WAS_DISTURBED,
		      0);
	free(without.reference);
	without.reference = NULL;
	expect_change(without, run_of(50000, 1100, 0), MEASUREMENT_NO_REFERENCE, 0);
}

static void test_baseline(void **state)
{
	char path[] = "/tmp/test_measurement.XXXXXX";
	struct measurement m = { 0 }, back = { 0 };
	struct baseline *b;
	int fd = mkstemp(path);
	FILE *f;

	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	assert_int_equal(measurement_plan(&m, &options, 1000), 0);
	m.ns[7] = 1.25;
	m.waited = 0.5;
	for (size_t i = 0; i < m.n; i++)
		m.reference[i] = 1 + (double)i;
	assert_null(baseline_open(&b, path));
	assert_int_equal(baseline_get(b, "x", &back), 0);
	assert_int_equal(baseline_put(b, "x", &m), 0);
	assert_null(baseline_save(b));
	baseline_free(b);
	assert_null(baseline_open(&b, path));
	assert_int_equal(baseline_get(b, "x", &back), 1);
	assert_int_equal(back.n, 100);
	assert_true(back.linear && back.ns[7] == 1.25 && back.iterations[0] == 199);
	assert_true(back.waited == 0.5 && back.reference[7] == 8);
	measurement_release(&back);
	measurement_release(&m);
	baseline_free(b);

	f = fopen(path, "w");
	assert_non_null(f);
	fputs("{\"x\": {\"linear\": true, \"iterations\": [0, 1], \"ns\": [1, 2]}}", f);
	fclose(f);
	assert_null(baseline_open(&b, path));
	assert_int_equal(baseline_get(b, "x", &back), -1); /* nothing is done 0 times */
	baseline_free(b);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("[1", f);
	fclose(f);
	assert_true(error_ignore(baseline_open(&b, path)));
	unlink(path);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_linear),	    cmocka_unit_test(test_flat),
	cmocka_unit_test(test_summary),	    cmocka_unit_test(test_take),
	cmocka_unit_test(test_no_cpu_time), cmocka_unit_test(test_baseline),
	cmocka_unit_test(test_compare),
};

UNIT_TESTS(tests);
