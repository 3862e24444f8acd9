/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/timeline.h"
#include "common/clock.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

/* A few rings of times, and the order in which they were taken. */
struct rings {
	uint64_t times[4][64];
	size_t counts[4], at[4];
	uint64_t taken[256];
	size_t from[256], n;
	size_t fail_at; /* take() fails for this one; SIZE_MAX: never */
};

static uint64_t peek(void *context, size_t number)
{
	struct rings *r = context;

	return r->at[number] < r->counts[number] ? r->times[number][r->at[number]] : UINT64_MAX;
}

static struct error *take(void *context, size_t number)
{
	struct rings *r = context;

	if (r->n == r->fail_at)
		return error_memory();
	r->taken[r->n] = r->times[number][r->at[number]++];
	r->from[r->n++] = number;
	return NULL;
}

static void add_all(struct timeline *t, struct rings *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_null(timeline_add(t, &(struct timeline_source){ peek, take, r, i }));
}

static void put(struct rings *r, size_t ring, uint64_t time)
{
	r->times[ring][r->counts[ring]++] = time;
}

/* Times up to a 0. */
static void put_all(struct rings *r, size_t ring, const uint64_t *times)
{
	for (; *times; times++)
		put(r, ring, *times);
}

#define PUT(r, ring, ...) put_all(r, ring, (const uint64_t[]){ __VA_ARGS__, 0 })

static void merges_by_time(void **state)
{
	struct rings r = { .fail_at = SIZE_MAX };
	struct timeline t = { 0 };
	uint64_t next[4] = { 0 };

	srandom(7);
	for (int i = 0; i < 200; i++) {
		size_t ring = (size_t)random() % 4;

		if (r.counts[ring] == 64)
			continue;
		next[ring] += (uint64_t)random() % 5;
		put(&r, ring, next[ring]);
	}
	add_all(&t, &r, 4);
	assert_null(timeline_run(&t, UINT64_MAX));
	assert_int_equal(r.n, r.counts[0] + r.counts[1] + r.counts[2] + r.counts[3]);
	for (size_t i = 1; i < r.n; i++) {
		assert_true(r.taken[i - 1] <= r.taken[i]);
		if (r.taken[i - 1] == r.taken[i])
			assert_true(r.from[i - 1] <= r.from[i]);
	}
	timeline_release(&t);
}

static void stops_at_the_horizon(void **state)
{
	struct rings r = { .fail_at = SIZE_MAX };
	struct timeline t = { 0 };

	PUT(&r, 0, 10, 20, 30);
	PUT(&r, 1, 20, 21);
	add_all(&t, &r, 2);
	assert_null(timeline_run(&t, 9));
	assert_int_equal(r.n, 0);
	assert_null(timeline_run(&t, 20));
	assert_int_equal(r.n, 3);
	/* What came meanwhile is put in its place. */
	put(&r, 1, 25);
	assert_null(timeline_run(&t, 29));
	assert_int_equal(r.n, 5);
	assert_int_equal(r.taken[4], 25);
	assert_null(timeline_run(&t, UINT64_MAX));
	assert_int_equal(r.n, 6);
	timeline_release(&t);
}

static void of_equal_times_the_first_source_wins(void **state)
{
	struct rings r = { .fail_at = SIZE_MAX };
	struct timeline t = { 0 };

	PUT(&r, 0, 5, 6);
	PUT(&r, 1, 5, 6);
	add_all(&t, &r, 2);
	assert_null(timeline_run(&t, UINT64_MAX));
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(r.from[i], i % 2);
	timeline_release(&t);
}

static void errors_end_the_run(void **state)
{
	struct rings r = { .fail_at = 1 };
	struct timeline t = { 0 };

	PUT(&r, 0, 1, 2);
	add_all(&t, &r, 1);
	assert_ptr_equal(timeline_run(&t, UINT64_MAX), error_memory());
	assert_int_equal(r.n, 1);
	timeline_release(&t);
}

static void nothing_is_fine(void **state)
{
	struct rings r = { .fail_at = SIZE_MAX };
	struct timeline t = { 0 };

	assert_null(timeline_run(&t, UINT64_MAX));
	add_all(&t, &r, 3);
	assert_null(timeline_run(&t, UINT64_MAX));
	timeline_release(&t);
}

/* While a record is taken, the thread that made it makes another one, on the other CPU. */
static struct error *take_slowly(void *context, size_t number)
{
	struct rings *r = context;

	if (r->n < 60)
		put(r, r->n % 2, clock_now());
	return take(context, number);
}

/* Whoever makes records without end is not followed without end. */
static void records_that_come_meanwhile_wait(void **state)
{
	struct rings r = { .fail_at = SIZE_MAX };
	struct timeline t = { 0 };

	put(&r, 1, clock_now());
	for (size_t i = 0; i < 2; i++)
		assert_null(
			timeline_add(&t, &(struct timeline_source){ peek, take_slowly, &r, i }));
	assert_null(timeline_run_all(&t));
	assert_int_equal(r.n, 1);
	assert_null(timeline_run_all(&t));
	assert_int_equal(r.n, 2);
	assert_true(r.taken[0] <= r.taken[1]);
	timeline_release(&t);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(merges_by_time),
	cmocka_unit_test(stops_at_the_horizon),
	cmocka_unit_test(of_equal_times_the_first_source_wins),
	cmocka_unit_test(errors_end_the_run),
	cmocka_unit_test(nothing_is_fine),
	cmocka_unit_test(records_that_come_meanwhile_wait),
};

UNIT_TESTS(tests);
