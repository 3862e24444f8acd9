/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/patience.h"
#include "tests/unit/unit.h"

#include <string.h>

#define SECOND UINT64_C(1000000000)
#define ALICE 1000
#define BOB 1001

static char text[192];

static bool lose(struct patience *p, uint32_t user, uint32_t pid, uint64_t now)
{
	return patience_lose(p, user, pid, now, text, sizeof(text));
}

static bool wait_for(struct patience *p, uint32_t user, uint64_t ns)
{
	return patience_waited(p, user, ns, SECOND, text, sizeof(text));
}

static void test_one_that_is_silent(void **state)
{
	struct patience p = { 0 };

	assert_int_equal(patience_of(&p, ALICE, false, 7, 0), 100);
	wait_for(&p, ALICE, SECOND / 10);
	assert_true(lose(&p, ALICE, 7, SECOND));
	assert_non_null(strstr(text, "process 7 does not answer"));
	assert_int_equal(patience_of(&p, ALICE, false, 7, SECOND), 0);
	assert_int_equal(patience_of(&p, ALICE, false, 8, SECOND), 100);
	assert_int_equal(patience_of(&p, BOB, false, 9, SECOND), 100);
	/* It is asked again, and left alone for longer. */
	assert_int_equal(patience_of(&p, ALICE, false, 7, 3 * SECOND - 1), 0);
	assert_int_equal(patience_of(&p, ALICE, false, 7, 3 * SECOND), 100);
	lose(&p, ALICE, 7, 3 * SECOND);
	assert_int_equal(patience_of(&p, ALICE, false, 7, 6 * SECOND), 0);
	assert_int_equal(patience_of(&p, ALICE, false, 7, 7 * SECOND), 20);
	assert_int_equal(patience_of(&p, ALICE, false, 7, 61 * SECOND), 100);
}

/* Answers that come late cost as much as those that do not come. */
static void test_a_user_who_is_slow(void **state)
{
	struct patience p = { 0 };

	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(patience_of(&p, ALICE, false, 7 + i, SECOND), 100);
		assert_int_equal(wait_for(&p, ALICE, SECOND / 1000 * 90), i == 4);
	}
	assert_non_null(strstr(text, "processes of user 1000 answer too slowly"));
	assert_int_equal(patience_of(&p, ALICE, false, 20, SECOND), 0);
	assert_int_equal(patience_of(&p, ALICE, true, 20, SECOND), 0);
	assert_int_equal(patience_of(&p, BOB, false, 21, SECOND), 100);
	assert_int_equal(patience_of(&p, ALICE, false, 20, 61 * SECOND), 100);
}

/* A recorder that was stopped itself. */
static void test_one_long_wait(void **state)
{
	struct patience p = { 0 };

	wait_for(&p, ALICE, 3600 * SECOND);
	assert_int_equal(patience_of(&p, ALICE, false, 7, SECOND), 0);
	assert_int_equal(patience_of(&p, BOB, false, 8, SECOND), 100);
}

/* More users than there is room for. */
static void test_all_users(void **state)
{
	struct patience p = { 0 };
	uint32_t user;

	for (user = 0; user < 1000 && patience_of(&p, user, false, 1, SECOND); user++)
		wait_for(&p, user, SECOND / 50);
	/* 63 have an entry of their own, and 20 use up that of all others. */
	assert_int_equal(user, 83);
	assert_int_equal(patience_of(&p, 5000, true, 1, SECOND), 100);
	assert_int_equal(patience_of(&p, 5000, false, 1, 61 * SECOND), 100);
	patience_reset(&p);
	assert_int_equal(patience_of(&p, 5000, false, 1, SECOND), 100);
}

/* With less than their own limits. */
static void test_all_users_together(void **state)
{
	struct patience p = { 0 };
	uint32_t user;

	for (user = 0; user < 60 && patience_of(&p, user, false, 1, SECOND); user++)
		wait_for(&p, user, SECOND / 5);
	assert_int_equal(user, 10); /* 2 s */
	assert_int_equal(patience_of(&p, 5, true, 1, SECOND), 100);
}

static void test_messages_are_few(void **state)
{
	struct patience p = { 0 };

	for (uint32_t i = 0; i < 8; i++)
		assert_true(lose(&p, i, 100 + i, SECOND));
	assert_non_null(strstr(text, "process 107"));
	assert_non_null(strstr(text, "not reported"));
	assert_false(lose(&p, 9, 109, SECOND));
}

static void test_users_of_containers(void **state)
{
	assert_int_equal(patience_user(0, false), 0);
	assert_true(patience_user(0, true) != patience_user(0, false));
	assert_true(patience_user(5, true) != patience_user(0, true));
	/* Nobody else is root outside. */
	assert_true(patience_user(0x80000000, true) != 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_one_that_is_silent),  cmocka_unit_test(test_a_user_who_is_slow),
	cmocka_unit_test(test_one_long_wait),	    cmocka_unit_test(test_all_users),
	cmocka_unit_test(test_all_users_together),  cmocka_unit_test(test_messages_are_few),
	cmocka_unit_test(test_users_of_containers),
};

UNIT_TESTS(tests);
