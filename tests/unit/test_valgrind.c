/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "bench/measure/valgrind.h"
#include "tests/unit/unit.h"

static void test_callgrind(void **state)
{
	struct callgrind_counts c;

	assert_true(callgrind_parse("version: 1\n"
				    "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n"
				    "summary: 1 1 1 1 1 1 1 1 1\n"
				    "fn=(1) main\n"
				    "totals: 1000 200 100 10 20 5 1 2 3\n",
				    &c));
	assert_true(c.instructions == 1000);
	assert_true(c.ram_hits == 6);
	assert_true(c.ll_hits == 35 - 6);
	assert_true(c.l1_hits == 1300 - 35);
	assert_true(c.estimated_cycles == 1265 + 5 * 29 + 35 * 6);
}

/* Zeros at the end of the line are left out. */
static void test_callgrind_short(void **state)
{
	struct callgrind_counts c;

	assert_true(callgrind_parse("events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n"
				    "summary: 1000 200 100 10\n",
				    &c));
	assert_true(c.instructions == 1000);
	assert_true(c.ram_hits == 0);
	assert_true(c.ll_hits == 10);
}

static void test_no_callgrind(void **state)
{
	static const char *const bad[] = {
		"",
		"events: Ir\n",
		"totals: 5\n",
		"events: Ir Dr\ntotals: 5 5\n",
		"nothing\n\n",
		"events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\ntotals: 10",
	};
	struct callgrind_counts c;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(callgrind_parse(bad[i], &c));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_callgrind),
	cmocka_unit_test(test_callgrind_short),
	cmocka_unit_test(test_no_callgrind),
};

UNIT_TESTS(tests);
