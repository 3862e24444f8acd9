/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>

#include "common/cursor.h"
#include "report/page/html_cells.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

#define NODES 70000u
#define SLICES 3u
#define GROUPS 3u

/*
 * Two groups of one source and one of another, with `in_slice` entries in each slice.
 */
static struct profile_entry entries[GROUPS * SLICES * 1000];
static struct profile_part parts[GROUPS * SLICES * 1000];
static uint32_t nodes[GROUPS * SLICES * 1000], rank[NODES];
static const struct profile_group groups[GROUPS];
static const uint32_t source_of[GROUPS] = { 1, 1, 0 };
static const struct profile_trace trace = { .start_ns = 0 };

static struct profile make_profile(uint32_t in_slice)
{
	size_t n = 0;

	for (uint32_t i = 0; i < NODES; i++)
		rank[i] = NODES - 1 - i;
	for (uint32_t group = 0; group < GROUPS; group++)
		for (uint32_t slice = 0; slice < SLICES; slice++)
			for (uint32_t i = 0; i < in_slice; i++, n++) {
				nodes[n] = (i * 7919 + group) % NODES;
				entries[n] = (struct profile_entry){ .group = group };
				parts[n] = (struct profile_part){ (uint32_t)n, slice,
								  rank[nodes[n]] * 3 + group };
			}
	return (struct profile){
		.groups = groups,
		.group_count = GROUPS,
		.entries = entries,
		.entry_count = n,
		.parts = parts,
		.part_count = n,
		.traces = &trace,
		.trace_count = 1,
		.slice_ns = 10,
	};
}

static uint64_t sum_of(struct cursor *c, uint64_t n)
{
	uint64_t sum = 0;

	while (n--)
		sum += cursor_uleb(c);
	return sum;
}

/* The nodes of a run of these entries ascend, and each value is that of its node. */
static void check_run(struct cursor *at, struct cursor *value, uint64_t cells)
{
	uint64_t node = 0;

	for (uint64_t i = 0; i < cells; i++) {
		uint64_t step = cursor_uleb(at), worth = cursor_uleb(value);

		assert_true(!i || step);
		node += step;
		assert_int_equal(worth / 3, node);
	}
}

static void check_cells(uint32_t in_slice)
{
	static const uint64_t slices[] = { 0, 0, 1, 0, 1, 0 }, sources[] = { 0, 1, 0, 1, 0, 1 };
	struct profile p = make_profile(in_slice);
	struct html_cells c = { .profile = &p,
				.source_of = source_of,
				.source_count = 2,
				.node_of = nodes,
				.node_rank = rank };
	struct buffer out = { 0 };
	struct cursor at, value;

	assert_no_error(html_cells_find(&c));
	assert_int_equal(c.slices, SLICES);
	html_cells_put(&c, &out);
	assert_true(buffer_ok(&out));
	at = cursor_over(out.data, out.size);
	assert_int_equal(cursor_uleb(&at), 6);
	for (int i = 0; i < 6; i++)
		assert_int_equal(cursor_uleb(&at), slices[i]);
	for (int i = 0; i < 6; i++)
		assert_int_equal(cursor_uleb(&at), sources[i]);
	for (int i = 0; i < 6; i++)
		assert_int_equal(cursor_uleb(&at), (sources[i] + 1) * in_slice);
	assert_int_equal(cursor_uleb(&at), p.part_count);
	value = at;
	sum_of(&value, p.part_count);
	for (int i = 0; i < 6; i++)
		check_run(&at, &value, (sources[i] + 1) * in_slice);
	assert_int_equal(cursor_left(&value), 0);
	assert_true(cursor_ok(&value));
	html_cells_release(&c);
	buffer_release(&out);
}

static void test_runs_of_few_cells(void **state)
{
	check_cells(1);
	check_cells(12);
}

static void test_runs_of_many_cells(void **state)
{
	check_cells(13);
	check_cells(1000);
}

/* The first part of a group may have the same number of a slice as the last one of another. */
static void test_groups_that_meet_in_a_slice(void **state)
{
	static const struct profile_part met[] = { { 0, 0, 1 }, { 1, 0, 1 } };
	static const struct profile_entry of_met[] = { { .group = 1 }, { .group = 2 } };
	struct profile p = make_profile(0);
	struct html_cells c = { .profile = &p, .source_of = source_of, .source_count = 2 };

	p.entries = of_met;
	p.parts = met;
	p.entry_count = p.part_count = 2;
	assert_no_error(html_cells_find(&c));
	assert_int_equal(c.stretch_count, 2);
	assert_int_equal(c.slices, 1);
	html_cells_release(&c);
}

static void test_nothing(void **state)
{
	struct profile p = { 0 };
	struct html_cells c = { .profile = &p };
	struct buffer out = { 0 };

	assert_no_error(html_cells_find(&c));
	assert_int_equal(c.slices, 1);
	html_cells_put(&c, &out);
	assert_true(buffer_ok(&out));
	assert_int_equal(out.size, 2);
	html_cells_release(&c);
	buffer_release(&out);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_runs_of_few_cells),
	cmocka_unit_test(test_runs_of_many_cells),
	cmocka_unit_test(test_groups_that_meet_in_a_slice),
	cmocka_unit_test(test_nothing),
};

UNIT_TESTS(tests);
