/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/results/results.h"
#include "tests/unit/unit.h"

static void test_what_is_no_number(void **state)
{
	struct results r = { 0 };
	char name[1100];

	memset(name, 'x', sizeof(name));
	name[1025] = 0;
	assert_int_equal(results_value(&r, "b", "latency", NAN), -1);
	assert_int_equal(results_value(&r, "b", "latency", INFINITY), -1);
	assert_int_equal(results_estimate(&r, "b", "latency", (struct estimate){ 1, NAN, 2 }), -1);
	assert_int_equal(results_value(&r, "", "latency", 1), -1);
	assert_int_equal(results_value(&r, name, "latency", 1), -1);
	name[65] = 0;
	assert_int_equal(results_value(&r, "b", name, 1), -1);
	assert_int_equal(r.count, 0);
	results_release(&r);
}

static void test_round_trip(void **state)
{
	char path[] = "/tmp/test_results.XXXXXX";
	int fd = mkstemp(path);
	struct results r = { 0 }, back = { 0 };
	const struct result *found;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(results_value(&r, "a \"b\" \xc3\xa9", "instructions", 123456789012), 0);
	assert_int_equal(results_estimate(&r, "b", "latency", (struct estimate){ 1.5, 1.25, 2 }),
			 0);
	assert_int_equal(results_value(&r, "b", "throughput", 0.1), 0);
	assert_int_equal(results_value(&r, "b", "throughput", 0.2), 0);
	assert_int_equal(r.count, 3);
	assert_null(results_write_bmf(&r, path));
	assert_null(results_read_bmf(&back, path));
	unlink(path);
	assert_int_equal(back.count, 3);
	found = results_find(&back, "a \"b\" \xc3\xa9", "instructions");
	assert_non_null(found);
	assert_true(found->estimate.value == 123456789012);
	assert_false(found->has_bounds);
	found = results_find(&back, "b", "latency");
	assert_non_null(found);
	assert_true(found->has_bounds && found->estimate.low == 1.25 && found->estimate.high == 2);
	assert_true(results_find(&back, "b", "throughput")->estimate.value == 0.2);
	results_release(&r);
	results_release(&back);
}

static void test_unwritable(void **state)
{
	struct results r = { 0 };

	assert_int_equal(results_value(&r, "b", "latency", 1), 0);
	assert_true(error_ignore(results_write_bmf(&r, "/nonexistent/folder/results.json")));
	results_release(&r);
	/* BMF is UTF-8. */
	assert_int_equal(results_value(&r, "\xff", "latency", 1), 0);
	assert_true(error_ignore(results_write_bmf(&r, "/dev/null")));
	results_release(&r);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_what_is_no_number),
	cmocka_unit_test(test_round_trip),
	cmocka_unit_test(test_unwritable),
};

UNIT_TESTS(tests);
