/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/profile/selection.h"
#include "tests/unit/unit.h"

static void test_numbers(void **state)
{
	struct number_set set = { 0 };

	assert_true(number_set_has(&set, 7));
	assert_true(number_set_add(&set, "1,4,10-19"));
	assert_true(number_set_has(&set, 1));
	assert_false(number_set_has(&set, 2));
	assert_true(number_set_has(&set, 10));
	assert_true(number_set_has(&set, 19));
	assert_false(number_set_has(&set, 20));
	assert_true(number_set_add(&set, "20"));
	assert_true(number_set_has(&set, 20));
	number_set_release(&set);
}

static void test_numbers_that_are_none(void **state)
{
	static const char *const wrong[] = { "",   ",",	  "1,",	 "a",	"-1",
					     "3-", "4-3", "1 2", "1;2", "99999999999999999999" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct number_set set = { 0 };

		assert_false(number_set_add(&set, wrong[i]));
		number_set_release(&set);
	}
}

static void test_patterns(void **state)
{
	struct pattern_list list = { 0 };

	assert_true(pattern_list_fits(&list, "anything"));
	assert_true(pattern_list_add(&list, "cc1*"));
	assert_true(pattern_list_add(&list, "[ab]"));
	assert_true(pattern_list_fits(&list, "cc1plus"));
	assert_true(pattern_list_fits(&list, "a"));
	/* What looks like a pattern may also be the name itself. */
	assert_true(pattern_list_fits(&list, "[ab]"));
	assert_false(pattern_list_fits(&list, "c"));
	pattern_list_release(&list);
}

static void expect_window(const char *text, uint64_t from_ns, uint64_t to_ns)
{
	struct selection s = { 0 };
	struct time_window window = { 1000000000, 11000000000 };

	assert_true(selection_set_time(&s, text));
	window = selection_window(&s, window);
	assert_int_equal(window.from_ns, from_ns);
	assert_int_equal(window.to_ns, to_ns);
}

static void test_time(void **state)
{
	expect_window("1.5s,3s", 2500000000, 4000000000);
	expect_window("100ms,", 1100000000, UINT64_MAX);
	expect_window(",2", 0, 3000000000);
	expect_window("@4.5,@5", 4500000000, 5000000000);
	expect_window("10%,20%", 2000000000, 3000000000);
	expect_window("50%,100%", 6000000000, UINT64_MAX);
}

static void test_times_that_are_none(void **state)
{
	static const char *const wrong[] = { "",	",",	 "1",	  "2,1",
					     "1,1",	"a,b",	 "101%,", "-1,2",
					     "20%,10%", "@2,@1", "nan%,", "1e400s,2" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct selection s = { 0 };

		if (selection_set_time(&s, wrong[i]))
			fail_msg("accepted: %s", wrong[i]);
	}
}

static void test_what_must_be_known(void **state)
{
	struct selection s = { 0 };

	assert_false(selection_needs_start(&s));
	assert_true(selection_set_time(&s, "@1,@2"));
	assert_false(selection_needs_start(&s));
	assert_true(selection_set_time(&s, "1,2"));
	assert_true(selection_needs_start(&s));
	assert_false(selection_needs_end(&s));
	assert_true(selection_set_time(&s, "1%,2%"));
	assert_true(selection_needs_end(&s));
}

static void test_events(void **state)
{
	const struct prf_event clock = { PRF_EVENT_ON_CPU, "cpu-clock", "samples", 99, 0 };
	const struct prf_event cycles = { PRF_EVENT_ON_CPU, "cycles", "samples", 99, 0 };
	const struct prf_event wait = { PRF_EVENT_OFF_CPU, "off-cpu", "ns", 0, 1 };
	const struct prf_event faults = { PRF_EVENT_COUNT, "page-faults", "events", 0, 1 };
	const struct prf_event misses = { PRF_EVENT_COUNT, "cache-misses", "events", 0, 1 };
	struct selection s = { 0 };

	/* Nothing asked for: what measures the same as the first event. */
	assert_true(selection_has_event(&s, &clock, &clock));
	assert_true(selection_has_event(&s, &cycles, &clock));
	assert_false(selection_has_event(&s, &wait, &clock));
	assert_false(selection_has_event(&s, &misses, &faults));
	s.off_cpu = true;
	assert_true(selection_has_event(&s, &wait, &clock));
	assert_false(selection_has_event(&s, &clock, &clock));
	s.on_cpu = true;
	assert_true(selection_has_event(&s, &clock, &clock));
	assert_false(selection_has_event(&s, &faults, &clock));
	s = (struct selection){ 0 };
	assert_true(pattern_list_add(&s.events, "page-*"));
	assert_true(selection_has_event(&s, &faults, &clock));
	assert_false(selection_has_event(&s, &clock, &clock));
	selection_release(&s);
}

static void test_tasks(void **state)
{
	const struct prf_task task = {
		.pid = 7, .tid = 8, .comm = "main", .cgroup = "/a/b", .command_line = ""
	};
	struct selection s = { 0 };

	assert_true(selection_has_task(&s, &task));
	assert_true(number_set_add(&s.pids, "7"));
	assert_true(pattern_list_add(&s.comms, "main"));
	assert_true(pattern_list_add(&s.cgroups, "/a/*"));
	assert_true(selection_has_task(&s, &task));
	assert_true(number_set_add(&s.tids, "7"));
	assert_false(selection_has_task(&s, &task));
	selection_release(&s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_numbers),
	cmocka_unit_test(test_numbers_that_are_none),
	cmocka_unit_test(test_patterns),
	cmocka_unit_test(test_time),
	cmocka_unit_test(test_times_that_are_none),
	cmocka_unit_test(test_what_must_be_known),
	cmocka_unit_test(test_events),
	cmocka_unit_test(test_tasks),
};

UNIT_TESTS(tests);
