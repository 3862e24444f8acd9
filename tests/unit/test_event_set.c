/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/event_set.h"
#include "tests/unit/unit.h"

#include <string.h>

static const struct prf_event clock_event = { PRF_EVENT_ON_CPU, "cpu-clock", "samples", 999, 0 };

/* Each field makes another event; the texts of the caller may go. */
static uint32_t number_of(const struct event_set *set, const struct prf_event *event)
{
	uint32_t number;

	assert_true(event_set_find(set, event, &number));
	return number;
}

static void test_distinct(void **state)
{
	struct prf_event others[] = { clock_event, clock_event, clock_event, clock_event,
				      clock_event };
	struct event_set set = { 0 };
	char name[16] = "cycles";

	others[0].kind = PRF_EVENT_OFF_CPU;
	others[1].frequency = 99;
	others[2].period = 1;
	others[3].name = name;
	others[4].unit = "ns";
	assert_int_equal(number_of(&set, &clock_event), PRF_NONE);
	assert_int_equal(event_set_add(&set, &clock_event), 0);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(number_of(&set, &others[i]), PRF_NONE);
		assert_int_equal(event_set_add(&set, &others[i]), i + 1);
	}
	assert_int_equal(event_set_add(&set, &clock_event), 0);
	assert_int_equal(number_of(&set, &others[3]), 4);
	strcpy(name, "faults");
	assert_int_equal(set.n, 6);
	assert_string_equal(set.events[4]->name, "cycles");
	event_set_release(&set);
}

/* The end of a name is not the beginning of a unit. */
static void test_texts(void **state)
{
	const struct prf_event one = { PRF_EVENT_ON_CPU, "a", "bc", 0, 1 },
			       other = { PRF_EVENT_ON_CPU, "ab", "c", 0, 1 };
	struct event_set set = { 0 };

	assert_int_equal(event_set_add(&set, &one), 0);
	assert_int_equal(event_set_add(&set, &other), 1);
	event_set_release(&set);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_distinct),
	cmocka_unit_test(test_texts),
};

UNIT_TESTS(tests);
