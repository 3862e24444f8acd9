/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/pairs/paired_runs.h"

/* A machine whose times drift, with noise, and a new side that takes `factor` as long. */
struct machine {
	struct random random;
	double factor, noise, drift, now;
	size_t runs[2];
	size_t fail_at;
};

static int measure(void *context, int side, double *ns)
{
	struct machine *m = context;

	if (m->fail_at && m->runs[0] + m->runs[1] + 1 >= m->fail_at)
		return -1;
	m->runs[side]++;
	m->now += m->drift;
	*ns = 1e6 * exp(m->now + m->noise * random_normal(&m->random)) * (side ? m->factor : 1);
	return 0;
}

static struct paired_runs_change change_of(double factor, double noise, size_t n, bool same)
{
	const struct bootstrap bootstrap = { 1, 2000, 0.95 };
	struct machine m = { .factor = factor, .noise = noise, .drift = 0.01 };
	struct paired_runs pairs = { 0 };
	struct paired_runs_change change;
	struct random order;

	random_seed(&m.random, 5);
	random_seed(&order, 6);
	assert_int_equal(paired_runs_take(&pairs, n, same, &order, measure, &m), 0);
	assert_int_equal(m.runs[0], same ? 2 * n : n);
	assert_int_equal(m.runs[1], same ? 0 : n);
	assert_int_equal(paired_runs_change(&pairs, &bootstrap, &change), 0);
	paired_runs_release(&pairs);
	return change;
}

static void test_slower(void **state)
{
	struct paired_runs_change change = change_of(1.1, 0.01, 40, false);

	assert_true(change.sign.low > 0.08 && change.sign.high < 0.12);
	assert_true(change.p < 1e-6);
	assert_int_equal(paired_runs_judge(&change, 0.02), PAIRED_RUNS_SLOWER);
	assert_int_equal(paired_runs_judge(&change, 0.2), PAIRED_RUNS_SAME);
}

static void test_faster(void **state)
{
	struct paired_runs_change change = change_of(0.9, 0.01, 40, false);

	assert_int_equal(paired_runs_judge(&change, 0.02), PAIRED_RUNS_FASTER);
}

/* The machine slows down by 1 % a run; within ABBA blocks that cancels. */
static void test_drift_cancels(void **state)
{
	struct paired_runs_change change = change_of(1, 0.0001, 40, false);

	assert_true(fabs(change.sign.value) < 0.011);
	assert_true(change.sign.low < 0 && change.sign.high > 0);
	assert_int_equal(paired_runs_judge(&change, 0.02), PAIRED_RUNS_SAME);
}

static void test_inconclusive(void **state)
{
	struct paired_runs_change change = change_of(1.02, 0.05, 10, false);

	assert_int_equal(paired_runs_judge(&change, 0.02), PAIRED_RUNS_INCONCLUSIVE);
}

static void test_noise(void **state)
{
	struct paired_runs_change quiet = change_of(1, 0.001, 20, true),
				  loud = change_of(1, 0.2, 20, true);

	assert_true(paired_runs_noise(&quiet, 0.02) == 0.02);
	assert_true(paired_runs_noise(&loud, 0.02) > 0.05);
}

/* Under noise, equal programs are hardly ever called slower. */
static void test_false_alarms(void **state)
{
	const struct bootstrap bootstrap = { 1, 100, 0.95 };
	struct machine m = { .factor = 1, .noise = 0.03 };
	size_t alarms = 0;
	struct random order;

	random_seed(&m.random, 50);
	random_seed(&order, 60);
	for (size_t i = 0; i < 500; i++) {
		struct paired_runs same = { 0 }, different = { 0 };
		struct paired_runs_change a, b;

		assert_int_equal(paired_runs_take(&same, 20, true, &order, measure, &m), 0);
		assert_int_equal(paired_runs_take(&different, 20, false, &order, measure, &m), 0);
		assert_int_equal(paired_runs_change(&same, &bootstrap, &a), 0);
		assert_int_equal(paired_runs_change(&different, &bootstrap, &b), 0);
		alarms += paired_runs_judge(&b, paired_runs_noise(&a, 0.02)) == PAIRED_RUNS_SLOWER;
		paired_runs_release(&same);
		paired_runs_release(&different);
	}
	assert_true(alarms <= 5);
}

static void test_failure(void **state)
{
	struct machine m = { .factor = 1, .fail_at = 7 };
	struct paired_runs pairs = { 0 };
	struct random order;

	random_seed(&order, 1);
	assert_int_equal(paired_runs_take(&pairs, 10, false, &order, measure, &m), -1);
	paired_runs_release(&pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slower),	      cmocka_unit_test(test_faster),
		cmocka_unit_test(test_drift_cancels), cmocka_unit_test(test_inconclusive),
		cmocka_unit_test(test_noise),	      cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
