/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/shares.h"

#include "tests/unit/unit.h"

/* How much the user can take, in pieces of one. */
static uint64_t take_all(struct shares *s, uint32_t user)
{
	uint64_t n = 0;

	for (; shares_may_take(s, user, 1); n++)
		shares_take(s, user, 1);
	return n;
}

static void test_as_much_as_is_left_for_others(void **state)
{
	struct shares s = { .limit = 300 };

	assert_int_equal(shares_room(&s, 7), 150);
	assert_int_equal(take_all(&s, 7), 150);
	assert_int_equal(shares_room(&s, 7), 0);
	assert_int_equal(shares_room(&s, 8), 75);
	assert_int_equal(shares_room(&s, 0), 150);
	assert_int_equal(shares_lacking(&s, 7, 0), 0);
	assert_int_equal(shares_lacking(&s, 7, 10), 10);
	assert_int_equal(shares_lacking(&s, 8, 75), 0);
	assert_int_equal(shares_lacking(&s, 8, 76), 1);
	assert_int_equal(shares_lacking(&s, 0, 151), 1);
	assert_int_equal(take_all(&s, 8), 75);
	/* With 48 less he has 102, of 123 that are left he may take 10. */
	assert_int_equal(shares_lacking(&s, 7, 10), 48);
	assert_int_equal(shares_lacking(&s, 7, 0), 0);
	assert_int_equal(take_all(&s, 7), 0);
	assert_int_equal(shares_of(&s, 7), 150);
	assert_int_equal(take_all(&s, 0), 75);
	assert_int_equal(take_all(&s, 9), 0);
	assert_int_equal(s.taken, 300);
	shares_release(&s);
	assert_int_equal(take_all(&s, 7), 150);
	shares_release(&s);
}

static void test_what_is_given_back(void **state)
{
	struct shares s = { .limit = 300 };

	shares_take(&s, 7, 150);
	shares_take(&s, 8, 50);
	shares_give(&s, 7, 100);
	assert_int_equal(s.taken, 100);
	assert_int_equal(take_all(&s, 7), 75);
	shares_give(&s, 7, 125);
	shares_give(&s, 8, 50);
	assert_int_equal(s.taken, 0);
	assert_int_equal(s.users.count, 0);
	/* What was not noted is not there. */
	shares_give(&s, 7, 1);
	shares_take(&s, 8, 5);
	shares_give(&s, 8, 6);
	assert_int_equal(s.taken, 0);
	shares_release(&s);
}

/* Amounts at the ends of the range; a limit that was exceeded. */
static void test_large_amounts(void **state)
{
	struct shares s = { .limit = UINT64_MAX };

	assert_true(shares_may_take(&s, 0, UINT64_MAX));
	assert_false(shares_may_take(&s, 1, UINT64_MAX));
	assert_false(shares_may_take(&s, 1, UINT64_MAX / 2 + 1));
	assert_true(shares_may_take(&s, 1, UINT64_MAX / 2));
	assert_true(shares_may_take(&s, 1, 0));
	s.limit = 100;
	shares_take(&s, 0, 200);
	assert_false(shares_may_take(&s, 0, 1));
	assert_true(shares_may_take(&s, 0, 0));
	assert_int_equal(shares_room(&s, 0), 0);
	assert_int_equal(shares_room(&s, 1), 0);
	assert_false(shares_may_take(&s, 1, UINT64_MAX));
	shares_release(&s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_as_much_as_is_left_for_others),
	cmocka_unit_test(test_what_is_given_back),
	cmocka_unit_test(test_large_amounts),
};

UNIT_TESTS(tests);
