/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/profile/slices.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static uint64_t samples_of(const struct slices *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->count; i++)
		sum += s->samples ? s->samples[i] : 1;
	return sum;
}

static uint64_t weight_of(const struct slices *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->count; i++)
		sum += s->weights[i];
	return sum;
}

static void test_one_moment_for_a_cell_in_a_slice(void **state)
{
	struct slices s = { .length_ns = 100, .max = 10 };

	for (uint64_t time = 0; time < 300; time += 10)
		assert_true(slices_count(&s, time % 20 ? 7 : 3, time, 2));
	assert_int_equal(s.count, 30);
	assert_true(slices_join(&s));
	assert_int_equal(s.run_count, 3);
	assert_int_equal(s.count, 6);
	assert_int_equal(s.cells[4], 3);
	assert_int_equal(s.samples[4], 5);
	assert_int_equal(s.weights[4], 10);
	slices_release(&s);
}

/* Weights are kept from the first one that is not 1; what came before keeps its own. */
static void test_weights_begin_late(void **state)
{
	struct slices s = { .length_ns = 100, .max = 10 };

	for (uint64_t time = 0; time < 200; time += 10)
		assert_true(slices_count(&s, time % 20 ? 7 : 3, time, 1));
	assert_null(s.weights);
	assert_true(slices_count(&s, 7, 199, 50));
	assert_true(slices_count(&s, 7, 199, 1));
	assert_true(slices_count(&s, 9, 200, 0));
	assert_non_null(s.weights);
	assert_true(slices_join(&s));
	assert_int_equal(s.count, 5);
	assert_int_equal(s.weights[0], 5);
	assert_int_equal(s.weights[3], 5 + 50 + 1);
	assert_int_equal(s.samples[3], 7);
	assert_int_equal(s.weights[4], 0);
	slices_release(&s);
}

static void test_slices_get_longer(void **state)
{
	struct slices s = { .length_ns = 10, .max = 8 };

	for (uint32_t i = 0; i < 1000; i++)
		assert_true(slices_count(&s, i % 2, i, 1));
	assert_int_equal(s.length_ns, 160);
	assert_int_equal(s.run_count, 7);
	for (size_t i = 0; i < s.run_count; i++)
		assert_int_equal(s.runs[i].slice, i);
	assert_int_equal(samples_of(&s), 1000);
	/* A time that no slice of usual length could hold. */
	assert_true(slices_count(&s, 0, UINT64_MAX, 1));
	assert_true(s.run_count <= 8);
	assert_int_equal(samples_of(&s), 1001);
	slices_release(&s);
}

/* As many cells and slices as there are samples: what is kept stays bounded. */
static void test_moments_are_bounded(void **state)
{
	struct slices s = { .length_ns = 1, .max = UINT32_MAX };
	const uint32_t n = 5u << 20;

	for (uint32_t i = 0; i < n; i++)
		assert_true(slices_count(&s, i % 1000, i, i % 1024 ? 1 : 2));
	assert_true(s.length_ns > 1);
	assert_true(s.count <= 4u << 20);
	assert_int_equal(samples_of(&s), n);
	assert_int_equal(weight_of(&s), n + (n - 1) / 1024 + 1);
	slices_release(&s);
}

/* Many samples of few cells in a slice are joined, and leave the slices as long as they were. */
static void test_moments_are_joined(void **state)
{
	struct slices s = { .length_ns = 100, .max = 10 };
	const uint32_t n = 5u << 20;

	for (uint32_t i = 0; i < n; i++)
		assert_true(slices_count(&s, i % 1000, i < n / 8 ? 150 : 350, 1));
	assert_int_equal(s.length_ns, 100);
	assert_true(s.count <= 4u << 20);
	assert_int_equal(samples_of(&s), n);
	assert_true(slices_join(&s));
	assert_int_equal(samples_of(&s), n);
	assert_null(s.weights);
	slices_release(&s);
}

/* Four cells: two of an entry, one of another, one that is not shown. */
static const struct slices_place places[] = { { 1, 0 }, { 0, 1 }, { 1, 1 }, { PRF_NONE, 0 } };
static const struct slices_worth worths[] = { { 1, 0 }, { 0, 1 } };

static void check_split(const struct slices *s, const struct slices_cells *cells)
{
	struct slices_parts out = { 0 };

	assert_true(slices_split(s, cells, true, &out));
	assert_int_equal(out.count, 8);
	for (uint32_t i = 0; i < out.count; i++) {
		assert_int_equal(out.parts[i].entry, i / 4);
		assert_int_equal(out.parts[i].slice, i % 4);
	}
	/* 1, 5, 9 of cell 1 by weight; of cell 0 by number (3 and 1), of cell 2 by weight (2). */
	assert_int_equal(out.samples[0], 3);
	assert_int_equal(out.parts[0].value, 9);
	assert_int_equal(out.samples[4], 3 + 1 + 2);
	assert_int_equal(out.parts[4].value, 3 + 1 + 6);
	assert_int_equal(out.samples[5], 2 + 1 + 3);
	slices_parts_release(&out);
}

static void test_splits(void **state)
{
	const struct profile_entry entries[] = { { 0, 0, 5, 0, 0 }, { 2, 0, PRF_NONE, 0, 0 } };
	struct slices s = { .length_ns = 10, .max = 8 };
	struct slices_cells cells = { places, worths, entries, 2 };
	struct slices_parts out = { 0 };

	for (uint32_t i = 0; i < 40; i++)
		assert_true(slices_count(&s, i % 4, i, 3));
	/* From another trace: time begins again, and is out of order. */
	slices_restart(&s);
	assert_true(slices_count(&s, 0, 15, 3));
	assert_true(slices_count(&s, 0, 5, 3));
	check_split(&s, &cells);
	assert_true(slices_join(&s));
	check_split(&s, &cells);
	assert_true(slices_split(&s, &cells, false, &out));
	assert_int_equal(out.count, 8);
	assert_int_equal(out.parts[4].value, 3 + 1 + 6);
	assert_null(out.samples);
	slices_parts_release(&out);
	slices_release(&s);
	cells.entry_count = 0;
	assert_true(slices_split(&s, &cells, true, &out));
	assert_int_equal(out.count, 0);
	slices_parts_release(&out);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_one_moment_for_a_cell_in_a_slice),
	cmocka_unit_test(test_weights_begin_late),
	cmocka_unit_test(test_slices_get_longer),
	cmocka_unit_test(test_moments_are_bounded),
	cmocka_unit_test(test_moments_are_joined),
	cmocka_unit_test(test_splits),
};

UNIT_TESTS(tests);
