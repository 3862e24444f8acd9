/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "bench/statistics/random.h"
#include "report/difference/change.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 300
#define TRIES 200

/* Runs of a program whose functions have shares as real profiles do: proportional to 1 / rank. */
struct fixture {
	struct random random;
	double mean[ROWS]; /* samples of each row in a run */
	size_t runs[2];
	double noise;  /* of a run's time in each row, beyond sampling: relative */
	double common; /* of a run's time in all rows alike: relative */
	double drift;  /* that both runs of a pair have in common: relative */
	bool paired;   /* the runs are known to be by turns */
	size_t grown;  /* the row that is planted; ROWS: none */
	double by;     /* and the samples it grows by */
	uint64_t *counts;
	struct change changes[ROWS];
};

/* Poisson distributed: exactly for few, rounded normal for many. */
static uint64_t draw(struct random *r, double mean)
{
	double product = 1, limit = exp(-mean);
	uint64_t k = 0;

	if (mean > 200)
		return (uint64_t)fmax(0, round(mean + sqrt(mean) * random_normal(r)));
	while ((product *= random_unit(r)) > limit)
		k++;
	return k;
}

static void set_means(struct fixture *f, double samples)
{
	double sum = 0;

	for (int i = 0; i < ROWS; i++)
		sum += 1.0 / (i + 2);
	for (int i = 0; i < ROWS; i++)
		f->mean[i] = samples / (i + 2) / sum;
}

/* Draws all counts and estimates the changes; the number of rows called sure. */
static size_t run(struct fixture *f)
{
	size_t all = f->runs[0] + f->runs[1], sure = 0;
	double exposure[32], drift[32], common[32];
	size_t partner[16];
	struct change_runs runs = { .runs = { f->runs[0], f->runs[1] },
				    .exposure = exposure,
				    .partner = f->paired ? partner : NULL,
				    .poisson = true };

	/* The first before ran beside the last now. */
	for (size_t r = 0; r < f->runs[0]; r++) {
		partner[r] = all - 1 - r;
		drift[r] = f->drift * random_normal(&f->random);
		drift[all - 1 - r] = drift[r];
	}
	for (size_t r = 0; r < all; r++)
		common[r] = f->common > 0 ? f->common * random_normal(&f->random) : 0;
	f->counts = realloc(f->counts, all * ROWS * sizeof(*f->counts));
	for (size_t i = 0; i < ROWS; i++)
		for (size_t r = 0; r < all; r++) {
			double mean = f->mean[i] + (i == f->grown && r >= f->runs[0] ? f->by : 0);

			mean *= 1 + f->noise * random_normal(&f->random);
			mean *= (f->drift > 0 ? 1 + drift[r] : 1) * (1 + common[r]);
			f->counts[i * all + r] = draw(&f->random, fmax(0, mean));
		}
	for (size_t r = 0; r < all; r++)
		exposure[r] = 999;
	assert_no_error(changes_estimate(f->changes, ROWS, f->counts, &runs));
	for (size_t i = 0; i < ROWS; i++)
		sure += f->changes[i].sure;
	return sure;
}

/* How often of some tries anything is called sure, or with a planted row that it is. */
static size_t found_of(struct fixture *f, int tries)
{
	size_t n = 0;

	for (int i = 0; i < tries; i++) {
		size_t sure = run(f);

		n += f->grown < ROWS ? f->changes[f->grown].sure : sure > 0;
	}
	return n;
}

static size_t found(struct fixture *f)
{
	return found_of(f, TRIES);
}

static void begin(struct fixture *f, size_t before, size_t now, double samples)
{
	memset(f, 0, sizeof(*f));
	random_seed(&f->random, 20);
	f->runs[0] = before;
	f->runs[1] = now;
	f->grown = ROWS;
	set_means(f, samples);
}

/* With the seed as it is these are fixed numbers; the bounds are what the header promises. */
static void test_silence(void **state)
{
	static const struct {
		size_t before, now;
		double noise, drift;
		bool paired;
	} cases[] = {
		{ 1, 1, 0, 0, false },	   { 3, 3, 0, 0, false },    { 3, 3, 0.05, 0, false },
		{ 5, 5, 0.02, 0, false },  { 4, 1, 0.05, 0, false }, { 3, 3, 0.05, 0, true },
		{ 5, 5, 0.02, 0.2, true }, { 8, 8, 0.02, 0, true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;

		begin(&f, cases[i].before, cases[i].now, 60000);
		f.noise = cases[i].noise;
		f.drift = cases[i].drift;
		f.paired = cases[i].paired;
		assert_in_range(found(&f), 0, 2);
		free(f.counts);
	}
}

/* As many tries as one chance in 1,000 needs: 10 false alarms are expected at most, 20 are not met
 * by chance. */
static void test_many_silent_tries(void **state)
{
	struct fixture f;

	begin(&f, 1, 1, 6000);
	assert_in_range(found_of(&f, 10000), 1, 20);
	free(f.counts);
}

/* What all rows have in common is known from few runs; the header says how often that misleads. */
static void test_common_noise(void **state)
{
	const int tries = 1400;

	for (size_t runs = 2; runs < 4; runs++)
		for (int paired = 0; paired < 2; paired++) {
			struct fixture f;

			begin(&f, runs, runs, 60000);
			f.common = 0.03;
			f.drift = paired ? 0.1 : 0;
			f.paired = paired;
			assert_in_range(found_of(&f, tries), 0, tries / 70);
			free(f.counts);
		}
}

/* Rows that one side does not have, or one run alone, vary as much as others do. */
static void test_rows_of_one_run(void **state)
{
	static const uint64_t counts[][10] = {
		{ 0, 0, 0, 0, 0, 1000, 0, 0, 0, 0 },
		{ 400, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
		{ 0, 0, 900, 0, 0, 0, 0, 0, 0, 0 },
		{ 100, 110, 95, 103, 99, 98, 104, 97, 108, 101 },
		{ 50, 52, 47, 55, 49, 51, 48, 53, 54, 46 },
		{ 0, 0, 0, 0, 0, 990, 1010, 1004, 995, 1001 },
	};
	const double exposure[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	const size_t partner[] = { 5, 6, 7, 8, 9 };

	for (int poisson = 0; poisson < 2; poisson++) {
		struct change_runs runs = { { 5, 5 }, (double *)exposure, partner, poisson };
		struct change c[6];

		assert_no_error(changes_estimate(c, 6, counts[0], &runs));
		for (int i = 0; i < 5; i++)
			assert_false(c[i].sure);
		assert_true(c[5].sure);
	}
}

static void test_one_run_knows_only_sampling_noise(void **state)
{
	struct fixture f;

	/* Runs that differ by 5 % in each function: the header says what then happens. */
	begin(&f, 1, 1, 60000);
	f.noise = 0.05;
	assert_true(found(&f) > TRIES / 2);
	free(f.counts);
}

/*
 * +0.5 % of the total in one function is found: from one minute on each side where the function
 * has up to 1.6 % of the samples, from three minutes up to 2.7 %.
 */
static void test_planted(void **state)
{
	static const struct {
		size_t row, runs;
		double share;
	} cases[] = { { 10, 1, 1.58 }, { 20, 1, 0.86 }, { 50, 1, 0.36 }, { 5, 3, 2.70 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;

		begin(&f, cases[i].runs, cases[i].runs, 60000);
		f.grown = cases[i].row;
		f.by = 300;
		assert_true(fabs(f.mean[f.grown] / 600 - cases[i].share) < 0.01);
		assert_true(found(&f) >= TRIES * 95 / 100);
		free(f.counts);
	}
}

/* What both runs of a pair have in common hides a change only where runs are not known as pairs. */
static void test_drift(void **state)
{
	struct fixture f;

	begin(&f, 8, 8, 60000);
	f.noise = 0.01;
	f.drift = 0.2;
	f.grown = 5;
	f.by = 300;
	assert_true(found(&f) < TRIES / 10);
	f.paired = true;
	assert_true(found(&f) >= TRIES * 95 / 100);
	free(f.counts);
}

/* The interval holds the true change in about 95 of 100 cases. */
static void test_intervals(void **state)
{
	static const size_t runs[] = { 1, 3, 5 };

	for (size_t k = 0; k < 3; k++) {
		struct fixture f;
		size_t inside = 0;

		begin(&f, runs[k], runs[k], 60000);
		f.noise = k ? 0.03 : 0;
		f.paired = k == 2;
		f.grown = 10;
		f.by = 300;
		for (int i = 0; i < TRIES; i++) {
			run(&f);
			for (size_t row = 0; row < 40; row++) {
				double truth = row == 10 ? f.by / 999 : 0;

				inside += f.changes[row].low <= truth &&
					  truth <= f.changes[row].high;
			}
		}
		assert_in_range(inside, TRIES * 40 * 93 / 100, TRIES * 40 * 98 / 100);
		free(f.counts);
	}
}

/* Rates and shares: the same value with other exposures is no change. */
static void test_exposure(void **state)
{
	double exposure[] = { 99, 999 };
	struct change_runs runs = { { 1, 1 }, exposure, NULL, true };
	const uint64_t counts[] = { 990, 9990, 990, 5000, 0, 400, 3, 0 };
	struct change c[4];

	assert_no_error(changes_estimate(c, 4, counts, &runs));
	assert_true(fabs(c[0].before - 10) < 1e-9 && fabs(c[0].now - 10) < 1e-9);
	assert_false(c[0].sure);
	assert_true(c[0].low < 0 && c[0].high > 0 && change_at_least(&c[0]) == 0);
	assert_true(c[1].sure);
	assert_true(c[1].high < -3 && change_at_least(&c[1]) == -c[1].high);
	assert_true(c[2].sure); /* new */
	assert_false(c[3].sure);
}

/* As many functions as a trace of some MB may have: time must not grow with their square. */
static void test_many_rows(void **state)
{
	const size_t n = 400000;
	uint64_t *counts = calloc(2 * n, sizeof(*counts));
	struct change *changes = calloc(n, sizeof(*changes));
	double exposure[] = { 1000, 1000 };
	struct change_runs runs = { { 1, 1 }, exposure, NULL, true };

	for (size_t i = 0; i < n; i++)
		counts[2 * i] = counts[2 * i + 1] = i < n / 2 ? 1 : 10 + i % 20;
	counts[2 * n - 1] = 200;
	assert_no_error(changes_estimate(changes, n, counts, &runs));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(changes[i].sure, i == n - 1);
	free(counts);
	free(changes);
}

static void test_without_noise_known(void **state)
{
	double exposure[] = { 1, 1 };
	struct change_runs runs = { { 1, 1 }, exposure, NULL, false };
	const uint64_t counts[] = { 5, 5000000 };
	struct change c;

	assert_no_error(changes_estimate(&c, 1, counts, &runs));
	assert_true(isnan(c.p) && isnan(c.low) && isnan(c.high));
	assert_false(c.sure);
	assert_no_error(changes_estimate(&c, 0, counts, &runs));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_silence),
	cmocka_unit_test(test_many_silent_tries),
	cmocka_unit_test(test_common_noise),
	cmocka_unit_test(test_rows_of_one_run),
	cmocka_unit_test(test_one_run_knows_only_sampling_noise),
	cmocka_unit_test(test_planted),
	cmocka_unit_test(test_drift),
	cmocka_unit_test(test_intervals),
	cmocka_unit_test(test_exposure),
	cmocka_unit_test(test_many_rows),
	cmocka_unit_test(test_without_noise_known),
};

UNIT_TESTS(tests);
