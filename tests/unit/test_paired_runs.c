/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/pairs/paired_runs.h"
#include "tests/unit/unit.h"

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
	const struct paired_runs_way way = { measure, &m, &order };

	random_seed(&m.random, 5);
	random_seed(&order, 6);
	assert_int_equal(paired_runs_take(&pairs, n, same, &way), 0);
	assert_int_equal(m.runs[0], same ? 2 * n : n);
	assert_int_equal(m.runs[1], same ? 0 : n);
	assert_int_equal(paired_runs_change(&pairs, &bootstrap, &change), 0);
	paired_runs_release(&pairs);
	return change;
}

static void test_verdicts(void **state)
{
	struct paired_runs_change same = change_of(1, 0.005, 40, true),
				  loud = change_of(1, 0.3, 40, true),
				  slower = change_of(1.1, 0.01, 40, false),
				  faster = change_of(0.9, 0.01, 40, false),
				  equal = change_of(1, 0.005, 40, false),
				  unclear = change_of(1.02, 0.05, 10, false);

	assert_true(slower.sign.low > 0.08 && slower.sign.high < 0.12);
	assert_true(slower.p < 1e-6);
	assert_int_equal(paired_runs_judge(&slower, &same, 0.02), PAIRED_RUNS_SLOWER);
	assert_int_equal(paired_runs_judge(&slower, &same, 0.2), PAIRED_RUNS_FINE);
	assert_int_equal(paired_runs_judge(&faster, &same, 0.02), PAIRED_RUNS_FASTER);
	assert_int_equal(paired_runs_judge(&equal, &same, 0.02), PAIRED_RUNS_FINE);
	assert_int_equal(paired_runs_judge(&unclear, &same, 0.02), PAIRED_RUNS_INCONCLUSIVE);
	/* Within noise that is larger than what is to be found, nothing is fine. */
	assert_int_equal(paired_runs_judge(&slower, &loud, 0.02), PAIRED_RUNS_INCONCLUSIVE);
	assert_int_equal(paired_runs_judge(&equal, &loud, 0.02), PAIRED_RUNS_INCONCLUSIVE);
}

/* The machine slows down by 1 % a run; within ABBA blocks that cancels. */
static void test_drift_cancels(void **state)
{
	struct paired_runs_change change = change_of(1, 0.0001, 40, false),
				  same = change_of(1, 0.0001, 40, true);

	assert_true(fabs(change.sign.value) < 0.011);
	assert_true(change.sign.low < 0 && change.sign.high > 0);
	assert_int_equal(paired_runs_judge(&change, &same, 0.02), PAIRED_RUNS_FINE);
}

static void test_noise(void **state)
{
	struct paired_runs_change quiet = change_of(1, 0.001, 20, true),
				  loud = change_of(1, 0.2, 20, true);

	assert_true(paired_runs_noise(&quiet, 0.02) == 0.02);
	assert_true(paired_runs_noise(&loud, 0.02) > 0.05);
}

/* What a comparison of the shipped size ends with, on machines of every kind. */
struct outcomes {
	size_t fine, slower, inconclusive;
};

static struct outcomes outcomes_of(double factor, double noise, size_t tries)
{
	const struct paired_runs_options options = { 20, 80, 0.02, 1, 100 };
	struct machine m = { .factor = factor, .noise = noise };
	struct outcomes found = { 0 };

	random_seed(&m.random, 50);
	for (size_t i = 0; i < tries; i++) {
		struct paired_runs_comparison c = { 0 };

		assert_int_equal(paired_runs_compare(&c, &options, measure, &m), 0);
		found.fine += c.verdict == PAIRED_RUNS_FINE || c.verdict == PAIRED_RUNS_FASTER;
		found.slower += c.verdict == PAIRED_RUNS_SLOWER;
		found.inconclusive += c.verdict == PAIRED_RUNS_INCONCLUSIVE;
		paired_runs_comparison_release(&c);
	}
	return found;
}

/* However loud the machine, equal programs are hardly ever called slower. */
static void test_false_alarms(void **state)
{
	static const double noises[] = { 0.003, 0.01, 0.03, 0.1, 0.3 };

	for (size_t i = 0; i < sizeof(noises) / sizeof(*noises); i++)
		assert_true(outcomes_of(1, noises[i], 200).slower <= 2);
	assert_true(outcomes_of(1, 0.01, 200).fine >= 195);
}

/* However loud the machine, what is slower than the size to be found is never fine. */
static void test_never_open(void **state)
{
	static const double noises[] = { 0.003, 0.01, 0.03, 0.1, 0.3 };
	static const double factors[] = { 1.03, 1.05, 1.1, 1.25 };

	for (size_t i = 0; i < sizeof(noises) / sizeof(*noises); i++)
		for (size_t j = 0; j < sizeof(factors) / sizeof(*factors); j++)
			assert_int_equal(outcomes_of(factors[j], noises[i], 200).fine, 0);
	assert_true(outcomes_of(1.05, 0.02, 200).slower >= 190);
}

/* As many pairs as are said to be needed do decide, mostly. */
static void test_needed(void **state)
{
	const double wanted = 0.02;
	struct paired_runs_change different = change_of(1.06, 0.06, 20, false),
				  same = change_of(1, 0.06, 20, true);
	size_t needed = paired_runs_needed(&different, &same, 20, wanted);

	assert_int_equal(paired_runs_judge(&different, &same, wanted), PAIRED_RUNS_INCONCLUSIVE);
	assert_true(needed > 20 && needed < 20000);
	different = change_of(1.06, 0.06, 2 * needed, false);
	same = change_of(1, 0.06, 2 * needed, true);
	assert_int_equal(paired_runs_judge(&different, &same, wanted), PAIRED_RUNS_SLOWER);
	/* A change of just the size that is to be found is never decided. */
	different.sign = (struct estimate){ 0.0201, 0.01, 0.03 };
	assert_int_equal(paired_runs_needed(&different, &same, 20, wanted), 0);
}

static void test_failure(void **state)
{
	struct machine m = { .factor = 1, .fail_at = 7 };
	struct paired_runs pairs = { 0 };
	struct random order;
	const struct paired_runs_way way = { measure, &m, &order };

	random_seed(&order, 1);
	assert_int_equal(paired_runs_take(&pairs, 10, false, &way), -1);
	paired_runs_release(&pairs);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_drift_cancels), cmocka_unit_test(test_verdicts),
	cmocka_unit_test(test_noise),	      cmocka_unit_test(test_false_alarms),
	cmocka_unit_test(test_never_open),    cmocka_unit_test(test_needed),
	cmocka_unit_test(test_failure),
};

UNIT_TESTS(tests);
