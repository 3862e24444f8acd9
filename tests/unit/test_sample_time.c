/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/tables/sample_time.h"
#include "tests/unit/small_profile.h"
#include "tests/unit/unit.h"

/* 30 samples of 1 ms, 10 of 2 ms. */
static void begin(struct small_profile *s)
{
	small_begin(s);
	small_entry(s, small_group(s, "one", 1, 1), "main", 30);
	small_entry(s, small_group(s, "two", 2, 2), "main", 10);
	s->groups[1].ns_per_sample = 2000000;
}

static void test_mean(void **state)
{
	struct small_profile s;

	begin(&s);
	assert_int_equal(sample_time(small_finish(&s)), 1250000);
	s.profile.entry_count = 0;
	assert_int_equal(sample_time(&s.profile), 0);
	s.profile.group_count = 0;
	assert_int_equal(sample_time(&s.profile), 0);
	small_end(&s);
}

/* One of them has no such time. */
static void test_not_known(void **state)
{
	struct small_profile s;

	begin(&s);
	s.groups[1].ns_per_sample = 0;
	assert_int_equal(sample_time(small_finish(&s)), 0);
	small_end(&s);
}

static void test_two_rates(void **state)
{
	struct profile_event events[2];
	struct small_profile s;

	begin(&s);
	events[0] = events[1] = s.event;
	events[1].interval_ns *= 2;
	s.profile.events = events;
	s.groups[1].event = 1;
	assert_int_equal(sample_time(small_finish(&s)), 0);
	small_end(&s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_mean),
	cmocka_unit_test(test_not_known),
	cmocka_unit_test(test_two_rates),
};

UNIT_TESTS(tests);
