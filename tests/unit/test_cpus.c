/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/cpus.h"
#include "tests/unit/unit.h"

#include "tests/unit/error_check.h"

static void reads_lists(void **state)
{
	struct cpus c;

	assert_no_error(cpus_parse(&c, "0-2,8,4-4\n"));
	assert_int_equal(c.n, 5);
	assert_int_equal(c.ids[0], 0);
	assert_int_equal(c.ids[2], 2);
	assert_int_equal(c.ids[3], 4);
	assert_int_equal(c.ids[4], 8);
	cpus_release(&c);
}

static void counts_each_once(void **state)
{
	struct cpus c;

	assert_no_error(cpus_parse(&c, "3,1-3,3"));
	assert_int_equal(c.n, 3);
	cpus_release(&c);
}

static void refuses_other_text(void **state)
{
	static const char *const bad[] = {
		"",	"a",	  "1-",	 "-1",	 "1,",
		",1",	"3-1",	  "1 2", "1;2",	 "1x",
		"8192", "0-8192", "+1",	 "1--2", "99999999999999999999"
	};
	struct cpus c;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_error_kind(cpus_parse(&c, bad[i]), ERROR_ARGUMENT);
		assert_int_equal(c.n, 0);
		cpus_release(&c);
	}
}

static void finds_the_one_it_runs_on(void **state)
{
	struct cpus c = { 0 }, possible = { 0 };

	assert_no_error(cpus_online(&c));
	assert_no_error(cpus_possible(&possible));
	assert_true(c.n >= 1);
	assert_true(possible.n >= c.n);
	cpus_release(&possible);
	for (size_t i = 1; i < c.n; i++)
		assert_true(c.ids[i - 1] < c.ids[i]);
	cpus_release(&c);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(reads_lists),
	cmocka_unit_test(counts_each_once),
	cmocka_unit_test(refuses_other_text),
	cmocka_unit_test(finds_the_one_it_runs_on),
};

UNIT_TESTS(tests);
