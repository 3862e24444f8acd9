/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdint.h>

#include "bench/statistics/changes.h"
#include "bench/statistics/random.h"
#include "tests/unit/unit.h"

#define VALUES 60

static const struct change_options options = { 1, 4, 199, 0.01 };

/* A level of 100 up to `at`, then one that is larger by `change`; with noise. */
static void series(struct random *r, double noise, size_t at, double change, double *values)
{
	for (size_t i = 0; i < VALUES; i++)
		values[i] = 100 * (i < at ? 1 : 1 + change) * exp(noise * random_normal(r));
}

struct finding {
	struct random random;
	double values[VALUES];
	size_t places[VALUES];
};

/* How many changes are found in a series that has one at `at`. */
static int found(struct finding *f, double noise, size_t at, double change)
{
	series(&f->random, noise, at, change, f->values);
	return changes_find(f->values, VALUES, &options, f->places);
}

static void test_exact(void **state)
{
	struct finding f;

	random_seed(&f.random, 1);
	assert_int_equal(found(&f, 0, 25, 0.1), 1);
	assert_int_equal(f.places[0], 25);
	assert_int_equal(found(&f, 0, 25, 0), 0);
	/* Less than a percent does not count, however sure it is. */
	assert_int_equal(found(&f, 0, 25, 0.005), 0);
	assert_int_equal(changes_find(f.values, 0, &options, f.places), 0);
	assert_int_equal(changes_find(f.values, CHANGES_VALUES_MOST + 1, &options, f.places), -1);
}

static void test_several(void **state)
{
	struct finding f;

	random_seed(&f.random, 2);
	series(&f.random, 0.01, 20, 0.2, f.values);
	for (size_t i = 40; i < VALUES; i++)
		f.values[i] /= 1.2;
	assert_int_equal(changes_find(f.values, VALUES, &options, f.places), 2);
	assert_in_range(f.places[0], 19, 21);
	assert_in_range(f.places[1], 39, 41);
}

/* One wild value is no change. */
static void test_outlier(void **state)
{
	struct finding f;

	random_seed(&f.random, 3);
	series(&f.random, 0.01, 20, 0, f.values);
	f.values[30] = 1000;
	assert_int_equal(changes_find(f.values, VALUES, &options, f.places), 0);
}

/* On planted series: what is found of what is there, and how much of what is found is there. */
static void planted(double noise, double change, size_t *right, size_t *wrong)
{
	struct finding f;

	random_seed(&f.random, 4);
	*right = *wrong = 0;
	for (size_t i = 0; i < 100; i++) {
		size_t at = 10 + random_below(&f.random, 40);
		int n = found(&f, noise, at, change);

		for (int j = 0; j < n; j++) {
			if (change > 0 && f.places[j] + 2 >= at && f.places[j] <= at + 2)
				++*right;
			else
				++*wrong;
		}
	}
}

static void test_planted(void **state)
{
	size_t found, wrong;

	planted(0.01, 0, &found, &wrong);
	assert_true(wrong <= 2);
	planted(0.01, 0.05, &found, &wrong);
	assert_true(found >= 98 && wrong <= 3);
	planted(0.03, 0.1, &found, &wrong);
	assert_true(found >= 90 && wrong <= 10);
	planted(0.05, 0, &found, &wrong);
	assert_true(wrong <= 4);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_exact),
	cmocka_unit_test(test_several),
	cmocka_unit_test(test_outlier),
	cmocka_unit_test(test_planted),
};

UNIT_TESTS(tests);
