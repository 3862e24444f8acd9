/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "profile_fixture.h"
#include "report/tables/threads.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

static void threads_stand_by_process_main_first(void **state)
{
	struct threads t;

	assert_no_error(threads_init(&t, &fixture));
	assert_int_equal(t.count, 3);
	assert_int_equal(t.list[0].group->tid, 100);
	assert_int_equal(t.list[1].group->tid, 101);
	assert_int_equal(t.list[2].group->tid, 200);
	assert_int_equal(t.list[0].samples, 10);
	assert_int_equal(t.list[1].samples, 5);
	assert_int_equal(t.list[2].value, 6);
	assert_int_equal(t.entries[t.list[0].first], 1);
	assert_int_equal(t.duration_ns, 200000000);
	threads_release(&t);
}

static void a_main_thread_precedes_lower_ids(void **state)
{
	static const struct profile_group groups[] = { GROUP("a", 50, 7), GROUP("a", 50, 50) };
	static const struct profile_entry entries[] = { { 0, 0, PRF_NONE, 1, 1 },
							{ 1, 0, PRF_NONE, 1, 1 } };
	const struct profile p = {
		.dimensions = PROFILE_BY_THREAD | PROFILE_BY_TRACE,
		.groups = groups,
		.group_count = 2,
		.entries = entries,
		.entry_count = 2,
	};
	struct threads t;

	assert_no_error(threads_init(&t, &p));
	assert_int_equal(t.list[0].group->tid, 50);
	assert_int_equal(t.list[1].group->tid, 7);
	threads_release(&t);
}

/* Of many traces the numbers are those of any thread of the command. */
static void joined_threads_are_one_for_each_command(void **state)
{
	static const struct profile_group groups[] = { GROUP("b", 1, 1), GROUP("a", 2, 2),
						       GROUP("b", 3, 4) };
	static const struct profile_entry entries[] = { { 0, 0, PRF_NONE, 1, 1 },
							{ 1, 0, PRF_NONE, 2, 2 },
							{ 2, 0, PRF_NONE, 4, 4 } };
	static const unsigned int dimensions[] = {
		PROFILE_BY_COMM | PROFILE_BY_EVENT,
		PROFILE_BY_COMM | PROFILE_BY_PID, /* groups by process */
		PROFILE_BY_COMM | PROFILE_BY_TRACE,
	};
	struct profile p = {
		.groups = groups,
		.group_count = 3,
		.entries = entries,
		.entry_count = 3,
	};

	for (size_t i = 0; i < sizeof(dimensions) / sizeof(*dimensions); i++) {
		struct threads t;

		p.dimensions = dimensions[i];
		assert_no_error(threads_init(&t, &p));
		assert_true(threads_are_joined(&p));
		assert_int_equal(t.count, 2);
		assert_string_equal(t.list[0].group->comm, "a");
		assert_int_equal(t.list[0].samples, 2);
		assert_int_equal(t.list[1].samples, 5);
		threads_release(&t);
	}
}

/* Two events of one thread are two groups; together their parts are in the order of time. */
static void groups_of_a_thread_are_merged_by_time(void **state)
{
	static const struct profile_group groups[] = { GROUP("a", 1, 1), GROUP("b", 2, 2),
						       GROUP("a", 1, 1) };
	static const struct profile_entry entries[] = {
		{ 0, 0, PRF_NONE, 2, 30 },
		{ 1, 0, PRF_NONE, 1, 5 },
		{ 2, 0, PRF_NONE, 1, 30 },
	};
	static const struct profile_part parts[] = {
		{ 0, 0, 10 }, { 0, 2, 20 }, { 1, 0, 5 }, { 2, 1, 30 }
	};
	const struct profile p = {
		.dimensions = PROFILE_BY_THREAD | PROFILE_BY_TRACE,
		.groups = groups,
		.group_count = 3,
		.entries = entries,
		.entry_count = 3,
		.parts = parts,
		.part_count = 4,
		.slice_ns = 10,
	};
	struct threads t;

	assert_no_error(threads_init(&t, &p));
	assert_int_equal(t.count, 2);
	assert_int_equal(t.list[0].value, 60);
	assert_no_error(threads_find_parts(&t, &p));
	assert_int_equal(t.list[0].first_part, 0);
	assert_int_equal(t.list[0].part_count, 3);
	assert_int_equal(t.list[1].first_part, 3);
	assert_int_equal(t.list[1].part_count, 1);
	assert_int_equal(t.parts[0], 0);
	assert_int_equal(t.parts[1], 3);
	assert_int_equal(t.parts[2], 1);
	assert_int_equal(t.parts[3], 2);
	threads_release(&t);
}

static void times_count_from_the_start_of_the_trace(void **state)
{
	assert_int_equal(threads_time(&fixture, &fixture_parts[1]), 0);
	assert_int_equal(threads_time(&fixture, &fixture_parts[2]), 100000000);
}

static void an_empty_profile_has_no_threads(void **state)
{
	struct threads t;

	assert_no_error(threads_init(&t, &fixture_empty));
	assert_int_equal(t.count, 0);
	threads_release(&t);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(threads_stand_by_process_main_first),
	cmocka_unit_test(a_main_thread_precedes_lower_ids),
	cmocka_unit_test(joined_threads_are_one_for_each_command),
	cmocka_unit_test(groups_of_a_thread_are_merged_by_time),
	cmocka_unit_test(times_count_from_the_start_of_the_trace),
	cmocka_unit_test(an_empty_profile_has_no_threads),
};

UNIT_TESTS(tests);
