/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/events/event_attributes.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/error_check.h"

static struct event_list list;

static int setup(void **state)
{
	list = (struct event_list){ 0 };
	return 0;
}

static int teardown(void **state)
{
	event_list_release(&list);
	return 0;
}

static void several_with_own_rates(void **state)
{
	assert_no_error(event_list_parse(&list, "cycles/freq=99/,page-faults/period=7/,cs:u"));
	assert_int_equal(list.n, 3);
	assert_string_equal(list.events[0].name, "cycles");
	assert_int_equal(list.events[0].type, PERF_TYPE_HARDWARE);
	assert_int_equal(list.events[0].config, PERF_COUNT_HW_CPU_CYCLES);
	assert_int_equal(list.events[0].kind, PRF_EVENT_ON_CPU);
	assert_int_equal(list.events[1].period, 7);
	assert_int_equal(list.events[1].kind, PRF_EVENT_COUNT);
	assert_string_equal(list.events[2].name, "cs:u");
	assert_true(list.events[2].user_only);
	event_list_set_rate(&list, 1000, 0);
	assert_int_equal(list.events[0].frequency, 99);
	assert_int_equal(list.events[1].frequency, 0);
	assert_int_equal(list.events[2].frequency, 1000);
}

static void expect_rate(size_t event, uint64_t frequency, uint64_t period)
{
	assert_int_equal(list.events[event].frequency, frequency);
	assert_int_equal(list.events[event].period, period);
}

static void period_for_all(void **state)
{
	assert_no_error(event_list_parse(&list, "instructions,sched:sched_switch,faults/freq=5/"));
	event_list_set_rate(&list, 0, 100000);
	expect_rate(0, 0, 100000);
	expect_rate(1, 0, 100000);
	expect_rate(2, 5, 0);
}

static void tracepoint_by_frequency_takes_each(void **state)
{
	assert_no_error(event_list_parse(&list, "sched:sched_switch"));
	event_list_set_rate(&list, 999, 0);
	assert_int_equal(list.events[0].source, EVENT_TRACEPOINT);
	expect_rate(0, 0, 1);
}

static void raw(void **state)
{
	assert_no_error(event_list_parse(&list, "r1a2"));
	assert_int_equal(list.events[0].type, PERF_TYPE_RAW);
	assert_int_equal(list.events[0].config, 0x1a2);
	assert_error_kind(event_list_parse(&list, "r"), ERROR_ARGUMENT);
	assert_error_kind(event_list_parse(&list, "r12345678901234567"), ERROR_ARGUMENT);
	assert_int_equal(list.n, 1);
}

static void uprobes(void **state)
{
	assert_no_error(event_list_parse(&list, "uprobe:/a:b/lib.so.6:malloc/period=100/"));
	assert_int_equal(list.events[0].source, EVENT_UPROBE);
	assert_string_equal(list.events[0].name, "uprobe:/a:b/lib.so.6:malloc");
	assert_string_equal(list.events[0].probe.file, "/a:b/lib.so.6");
	assert_string_equal(list.events[0].probe.symbol, "malloc");
	assert_int_equal(list.events[0].period, 100);
	assert_no_error(event_list_parse(&list, "uprobe:./x:ns::f+0x10"));
	assert_string_equal(list.events[1].probe.file, "./x");
	assert_string_equal(list.events[1].probe.symbol, "ns::f");
	assert_int_equal(list.events[1].probe.symbol_offset, 0x10);
	assert_no_error(event_list_parse(&list, "uprobe:x:operator+"));
	assert_string_equal(list.events[2].probe.symbol, "operator+");
	assert_no_error(event_list_parse(&list, "uprobe:/srv/app:example.com/tree/leaf.(*T).Grow"));
	assert_string_equal(list.events[3].probe.file, "/srv/app");
	assert_string_equal(list.events[3].probe.symbol, "example.com/tree/leaf.(*T).Grow");
}

static void other_probes(void **state)
{
	assert_no_error(event_list_parse(&list, "uretprobe:/a/b:f::g,usdt:/c:d:e:f"));
	assert_int_equal(list.events[0].source, EVENT_UPROBE);
	assert_true(list.events[0].probe.form->at_return);
	assert_string_equal(list.events[0].probe.symbol, "f::g");
	assert_int_equal(list.events[1].source, EVENT_USDT);
	assert_string_equal(list.events[1].probe.file, "/c");
	assert_string_equal(list.events[1].probe.provider, "d");
	assert_string_equal(list.events[1].probe.symbol, "e:f");
	assert_no_error(event_list_parse(&list, "kprobe:f+8,kretprobe:f/period=3/"));
	assert_int_equal(list.events[2].source, EVENT_KPROBE);
	assert_int_equal(list.events[2].probe.symbol_offset, 8);
	assert_true(list.events[3].probe.form->at_return);
	assert_int_equal(list.events[3].period, 3);
	for (size_t i = 0; i < list.n; i++)
		assert_int_equal(event_class(&list.events[i]), CLASS_PROBE);
}

static void says_what_is_wrong(const char *text, const char *expected)
{
	assert_error(event_list_parse(&list, text), ERROR_ARGUMENT, expected);
}

static void wrong_ones(void **state)
{
	says_what_is_wrong("cylces", "unknown event 'cylces'; did you mean 'cycles'?");
	says_what_is_wrong("page-fault:k",
			   "unknown event 'page-fault:k'; did you mean 'page-faults'?");
	says_what_is_wrong("qqqqqqqq",
			   "unknown event 'qqqqqqqq'; prof-record --list shows what there is");
	says_what_is_wrong("", "an event's name is missing");
	says_what_is_wrong("cpu-clock,", "an event's name is missing");
	says_what_is_wrong("cpu-clock", "event 'cpu-clock' was given twice");
	says_what_is_wrong("cycles/freq=0/", "event 'cycles': '0' is not a number from 1 to 10^12");
	says_what_is_wrong("cycles/rate=1/",
			   "event 'cycles': unknown option 'rate'; there are freq and period");
	says_what_is_wrong("cycles/",
			   "event 'cycles/': expected /freq=N/ or /period=N/ at the end");
	says_what_is_wrong("uprobe:/bin/true",
			   "event 'uprobe:/bin/true': expected uprobe:FILE:SYMBOL[+OFFSET]");
	says_what_is_wrong("uretprobe:/bin/true:main+4",
			   "event 'uretprobe:/bin/true:main+4': expected uretprobe:FILE:SYMBOL");
	says_what_is_wrong("usdt:/bin/true:python",
			   "event 'usdt:/bin/true:python': expected usdt:FILE:PROVIDER:NAME");
	says_what_is_wrong("kprobe:", "event 'kprobe:': expected kprobe:SYMBOL[+OFFSET]");
	assert_int_equal(list.n, 1);
}

static void too_many(void **state)
{
	char name[16];

	for (int i = 0; i < EVENT_LIST_MAX; i++) {
		snprintf(name, sizeof(name), "r%x", i);
		assert_no_error(event_list_parse(&list, name));
	}
	says_what_is_wrong("cycles", "more than 64 events");
}

static void the_recorders_own(void **state)
{
	assert_no_error(event_list_add(&list, "off-cpu"));
	assert_int_equal(list.events[0].kind, PRF_EVENT_OFF_CPU);
	assert_string_equal(list.events[0].unit, "ns");
	assert_int_equal(event_class(&list.events[0]), CLASS_SWITCH);
	assert_error_kind(event_list_add(&list, "none"), ERROR_ARGUMENT);
}

static void attributes(void **state)
{
	struct perf_event_attr a;

	assert_no_error(event_list_parse(&list, "task-clock:k"));
	event_list_set_rate(&list, 4999, 0);
	event_attributes(&list.events[0], &a);
	assert_int_equal(a.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(a.config, PERF_COUNT_SW_TASK_CLOCK);
	assert_int_equal(a.freq, 1);
	assert_int_equal(a.sample_freq, 4999);
	/* Our program leaves ticks out, since it counts those that do not come. */
	assert_int_equal(a.exclude_user, 0);
	assert_int_equal(a.exclude_kernel, 0);
	assert_int_equal(event_tick_mode(&list.events[0]), TICK_KERNEL);
	assert_int_equal(event_tick_ns(&list.events[0]), 1000000000 / 4999);
}

static void counters_are_left_to_the_kernel(void **state)
{
	struct perf_event_attr a;

	assert_int_equal(event_list_parse(&list, "cycles:k"), 0);
	event_list_set_rate(&list, 99, 0);
	event_attributes(&list.events[0], &a);
	assert_int_equal(a.exclude_user, 1);
	assert_int_equal(event_tick_mode(&list.events[0]), TICK_ANY);
	assert_int_equal(event_tick_ns(&list.events[0]), 0);
	assert_false(event_limit_ticks(&list.events[0]));
}

/* The kernel takes a shorter period, and has ticks every 10 us then. */
static void timers_have_a_shortest_period(void **state)
{
	assert_int_equal(event_list_parse(&list, "cpu-clock/period=9999/,task-clock/freq=100001/,"
						 "page-faults/period=1/"),
			 0);
	assert_true(event_limit_ticks(&list.events[0]));
	assert_int_equal(event_tick_ns(&list.events[0]), 10000);
	assert_true(event_limit_ticks(&list.events[1]));
	assert_int_equal(list.events[1].frequency, 100000);
	assert_false(event_limit_ticks(&list.events[1]));
	assert_false(event_limit_ticks(&list.events[2]));
	assert_int_equal(list.events[2].period, 1);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
static const struct CMUnitTest tests[] = {
	EACH(several_with_own_rates),
	EACH(period_for_all),
	EACH(tracepoint_by_frequency_takes_each),
	EACH(raw),
	EACH(uprobes),
	EACH(other_probes),
	EACH(wrong_ones),
	EACH(too_many),
	EACH(the_recorders_own),
	EACH(attributes),
	EACH(counters_are_left_to_the_kernel),
	EACH(timers_have_a_shortest_period),
};

UNIT_TESTS(tests);
