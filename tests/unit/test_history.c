/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/gate/history.h"
#include "tests/unit/unit.h"

static char path[] = "/tmp/test_history.XXXXXX";

static int setup(void **state)
{
	int fd;

	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	return unlink(path);
}

static void add(int64_t time, const char *branch, const char *hash, const char *testbed,
		bool regressed, double value)
{
	struct history_entry e = { .time = time,
				   .branch = (char *)branch,
				   .hash = (char *)hash,
				   .testbed = (char *)testbed,
				   .regressed = regressed };

	assert_int_equal(results_value(&e.results, "b", "latency", value), 0);
	assert_null(history_append(path, &e));
	results_release(&e.results);
}

static void expect(const struct history *h, struct history_view view, const double *expected,
		   size_t n)
{
	const struct result of = { .benchmark = (char *)"b", .measure = (char *)"latency" };
	double *values;
	size_t found;

	assert_null(history_values(h, &view, &of, &values, &found));
	assert_int_equal(found, n);
	for (size_t i = 0; i < n; i++)
		assert_true(values[i] == expected[i]);
	free(values);
}

static void test_views(void **state)
{
	struct history h = { 0 };

	add(1, "main", "a", "ci", false, 1);
	add(2, "main", "b", "ci", true, 2);
	add(3, "main", "c", "other", false, 3);
	add(4, "main", "d", "ci", false, 4);
	add(5, "feature", "e", "ci", false, 5);
	assert_null(history_read(&h, path));
	assert_int_equal(h.count, 5);
	assert_string_equal(h.all[4].hash, "e");
	expect(&h, (struct history_view){ "main", "ci" }, (double[]){ 1, 4 }, 2);
	expect(&h, (struct history_view){ "main", "ci", .since = 2 }, (double[]){ 4 }, 1);
	expect(&h, (struct history_view){ "feature", "ci" }, (double[]){ 5 }, 1);
	expect(&h, (struct history_view){ "feature", "ci", "main" }, (double[]){ 1, 4, 5 }, 3);
	expect(&h, (struct history_view){ "feature", "ci", "main", "a" }, (double[]){ 1, 5 }, 2);
	expect(&h, (struct history_view){ "new", "ci", "main", "unknown" }, NULL, 0);
	expect(&h, (struct history_view){ "main", "nowhere" }, NULL, 0);
	history_release(&h);
}

static void test_missing_and_corrupt(void **state)
{
	static const char *const bad[] = {
		"{",
		"[]",
		"{\"time\": 1}",
		"{\"time\": \"x\", \"branch\": \"m\", \"testbed\": \"t\", \"results\": {}}",
		"{\"time\": 1, \"branch\": \"m\", \"testbed\": \"t\", \"results\": []}",
		"{\"time\": 1, \"branch\": \"m\", \"testbed\": \"t\"}",
		"{\"time\":1,\"branch\":\"m\",\"testbed\":\"t\",\"results\":{\"b\":{\"l\":{}}}}",
	};
	struct history h = { 0 };
	struct error *error;

	assert_null(history_read(&h, "/nonexistent/history"));
	assert_int_equal(h.count, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fprintf(f, "\n%s\n", bad[i]);
		fclose(f);
		error = history_read(&h, path);
		assert_non_null(error);
		assert_non_null(strstr(error->text, ":2: "));
		error_free(error);
		assert_int_equal(h.count, 0);
	}
}

/* What a crash may leave of a file: zeros in the place of an entry, or before its end. */
static void test_zeros(void **state)
{
	static const char entry[] =
		"{\"time\":1,\"branch\":\"m\",\"testbed\":\"t\",\"results\":{}}\n";
	static const size_t places[] = { 0, sizeof(entry) - 2 };
	struct history h = { 0 };
	struct error *error;

	for (size_t i = 0; i < 2; i++) {
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fputs(entry, f);
		fwrite(entry, 1, places[i], f);
		fwrite("\0\0\0", 1, 3, f);
		fputs(entry + places[i], f);
		fclose(f);
		error = history_read(&h, path);
		assert_non_null(error);
		assert_non_null(strstr(error->text, ":2: "));
		error_free(error);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_views, setup, teardown),
	cmocka_unit_test_setup_teardown(test_missing_and_corrupt, setup, teardown),
	cmocka_unit_test_setup_teardown(test_zeros, setup, teardown),
};

UNIT_TESTS(tests);
