/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/clock.h"
#include "tests/unit/unit.h"

static void waits_until_something_is_due(void **state)
{
	assert_int_equal(clock_wait_ms(1000000000, 1000000000 + 5000000, 200), 5 + 1);
	assert_int_equal(clock_wait_ms(1000000000, 1000000000 + 5000001, 200), 5 + 1);
	assert_int_equal(clock_wait_ms(1000000000, 1000000001, 200), 1);
}

static void waits_no_longer_than_allowed(void **state)
{
	assert_int_equal(clock_wait_ms(1000000000, 2000000000, 200), 200);
	assert_int_equal(clock_wait_ms(1000000000, UINT64_MAX, 200), 200);
	assert_int_equal(clock_wait_ms(1000000000, 1200000000, 200), 200);
	assert_int_equal(clock_wait_ms(1000000000, 1199999999, 200), 200);
}

/* What has been due for a moment already is not waited for. */
static void waits_not_at_all_for_what_is_due(void **state)
{
	assert_int_equal(clock_wait_ms(1000000000, 1000000000, 200), 0);
	assert_int_equal(clock_wait_ms(1000000000, 999999999, 200), 0);
	assert_int_equal(clock_wait_ms(1000000000, 0, 200), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(waits_until_something_is_due),
	cmocka_unit_test(waits_no_longer_than_allowed),
	cmocka_unit_test(waits_not_at_all_for_what_is_due),
};

UNIT_TESTS(tests);
