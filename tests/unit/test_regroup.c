/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/merge/regroup.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
	struct frame_table frames;
	struct node_tree tree;
	struct regrouped regrouped;
	struct profile profile;
	uint32_t a, ab, ac, d; /* nodes */
};

static uint32_t frame(struct fixture *f, const char *name, uint32_t object)
{
	return frame_table_add(&f->frames, &(struct profile_frame){ .name = name,
								    .linkage_name = "",
								    .file = "",
								    .object = object });
}

static void begin(struct fixture *f)
{
	static const struct profile_group groups[] = {
		{ .comm = "zebra", .cgroup = "", .command_line = "", .object = PRF_NONE },
		{ .comm = "ape", .cgroup = "", .command_line = "", .object = PRF_NONE },
		{ .comm = "unused", .cgroup = "", .command_line = "", .object = PRF_NONE },
	};

	*f = (struct fixture){ 0 };
	f->regrouped.groups = malloc(sizeof(groups));
	f->regrouped.group_of = malloc(3 * sizeof(uint32_t));
	assert_non_null(f->regrouped.groups);
	assert_non_null(f->regrouped.group_of);
	memcpy(f->regrouped.groups, groups, sizeof(groups));
	f->regrouped.group_count = f->regrouped.group_capacity = 3;
	for (uint32_t i = 0; i < 3; i++)
		f->regrouped.group_of[i] = i;
	node_tree_add(&f->tree, PRF_NONE, frame(f, "unused", 0));
	f->a = node_tree_add(&f->tree, PRF_NONE, frame(f, "a", 0));
	f->ab = node_tree_add(&f->tree, f->a, frame(f, "b", 1));
	f->ac = node_tree_add(&f->tree, f->a, frame(f, "c", 0));
	f->d = node_tree_add(&f->tree, PRF_NONE, frame(f, "d", 0));
}

static void add(struct fixture *f, uint32_t group, uint32_t node, uint64_t value)
{
	const struct profile_entry entry = { group, 0, node, 1, value };

	assert_no_error(regroup_add(&f->regrouped, &entry));
}

static void finish(struct fixture *f, unsigned int dimensions, double min, uint64_t divide_by)
{
	const struct regroup how = { .dimensions = dimensions,
				     .min_percent = min,
				     .divide_by = divide_by,
				     .tree = &f->tree,
				     .frames = &f->frames };

	assert_no_error(regroup_finish(&f->regrouped, &how, &f->profile));
}

static void end(struct fixture *f)
{
	regrouped_release(&f->regrouped);
	frame_table_release(&f->frames);
	node_tree_release(&f->tree);
}

static void test_sorts_and_joins(void **state)
{
	const struct profile_entry *e;
	struct fixture f;

	begin(&f);
	add(&f, 1, f.a, 1);
	add(&f, 0, f.ab, 3);
	add(&f, 0, PRF_NONE, 2);
	add(&f, 0, f.ab, 4);
	finish(&f, PROFILE_BY_COMM, 0, 1);
	/* Groups by name, without the unused one. */
	assert_int_equal(f.profile.group_count, 2);
	assert_string_equal(f.profile.groups[0].comm, "ape");
	assert_int_equal(f.profile.entry_count, 3);
	e = f.profile.entries;
	assert_int_equal(e[0].group, 0);
	assert_int_equal(e[1].node, PRF_NONE);
	assert_int_equal(e[2].value, 7);
	assert_int_equal(e[2].samples, 2);
	assert_int_equal(f.profile.samples, 4);
	assert_int_equal(f.profile.total, 10);
	end(&f);
}

static void test_drops_what_nothing_uses(void **state)
{
	struct fixture f;
	uint32_t node;

	begin(&f);
	add(&f, 0, f.ac, 1);
	finish(&f, PROFILE_BY_COMM, 0, 1);
	assert_int_equal(f.profile.node_count, 2);
	assert_int_equal(f.profile.frame_count, 2);
	node = f.profile.entries[0].node;
	assert_string_equal(f.profile.frames[f.profile.nodes[node].frame].name, "c");
	node = f.profile.nodes[node].parent;
	assert_string_equal(f.profile.frames[f.profile.nodes[node].frame].name, "a");
	assert_int_equal(f.profile.nodes[node].parent, PRF_NONE);
	assert_int_equal(regrouped_node(&f.regrouped, f.ac), f.profile.entries[0].node);
	assert_int_equal(regrouped_node(&f.regrouped, f.d), PRF_NONE);
	assert_int_equal(regrouped_node(&f.regrouped, PRF_NONE), PRF_NONE);
	end(&f);
}

struct four {
	uint64_t weights[4]; /* of the stacks a, ab, ac and d */
	bool apart;	     /* d is in a group of its own */
	double min_percent;
	uint64_t unit;
};

static void regroup_four(struct fixture *f, const struct four *four)
{
	begin(f);
	for (size_t i = 0; i < 4; i++)
		add(f, i == 3 && four->apart, (const uint32_t[]){ f->a, f->ab, f->ac, f->d }[i],
		    four->weights[i]);
	finish(f, PROFILE_BY_COMM, four->min_percent, four->unit);
}

/* Thirds of a unit: each entry is rounded, the sum is not off. */
static void test_rounds_the_sum_once(void **state)
{
	struct fixture f;

	regroup_four(&f, &(struct four){ { 1333, 1333, 1333, 1001 }, true, 0, 1000 });
	assert_int_equal(f.profile.total, 5);
	for (size_t i = 0; i < f.profile.entry_count; i++)
		assert_in_range(f.profile.entries[i].value, 1, 2);
	end(&f);
}

/* Two stacks, one of them in slices 0 and 2, the other in 1; a sample is 1333 of a unit's 1000. */
static void regroup_parts(struct fixture *f, unsigned int dimensions)
{
	static const struct slices_worth worth = { 1333, 0 };
	static const uint32_t cells[] = { 1, 1, 0, 1 }, since[] = { 0, 5, 15, 25 };
	struct slices_place places[2] = { { PRF_NONE, 0 }, { PRF_NONE, 0 } };
	struct slices slices = { .length_ns = 10, .max = 8 };
	struct regroup how = { .dimensions = dimensions,
			       .divide_by = 1000,
			       .slices = &slices,
			       .places = places,
			       .worths = &worth,
			       .tree = &f->tree,
			       .frames = &f->frames };

	begin(f);
	for (int i = 0; i < 4; i++)
		assert_true(slices_count(&slices, cells[i], since[i], 1));
	assert_no_error(
		regroup_add(&f->regrouped, &(struct profile_entry){ 0, 0, f->ab, 1, 1333 }));
	assert_no_error(regroup_add(&f->regrouped, &(struct profile_entry){ 0, 1, f->a, 3, 3999 }));
	assert_no_error(regroup_finish(&f->regrouped, &how, &f->profile));
	assert_int_equal(f->profile.samples, 4);
	assert_int_equal(f->profile.total, 5);
	slices_release(&slices);
}

static void test_entries_have_parts(void **state)
{
	struct fixture f;
	uint64_t sums[2] = { 0, 0 };

	regroup_parts(&f, PROFILE_BY_COMM | PROFILE_IN_PARTS);
	assert_int_equal(f.profile.entry_count, 2);
	assert_int_equal(f.profile.part_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(f.profile.parts[i].entry, i % 2);
		assert_int_equal(f.profile.parts[i].slice, i);
		sums[i % 2] += f.profile.parts[i].value;
	}
	assert_int_equal(f.profile.entries[0].samples, 3);
	assert_int_equal(f.profile.entries[0].value, sums[0]);
	assert_int_equal(f.profile.entries[1].value, sums[1]);
	assert_int_equal(f.profile.entries[0].slice, 0);
	end(&f);
}

/* By time, entries are what the parts would be. */
static void test_entries_by_time(void **state)
{
	static const uint64_t samples[] = { 2, 1, 1 }, values[] = { 3, 1, 1 };
	struct fixture f;

	for (int in_parts = 0; in_parts < 2; in_parts++) {
		regroup_parts(&f, PROFILE_BY_TIME | (in_parts ? PROFILE_IN_PARTS : 0));
		assert_int_equal(f.profile.entry_count, 3);
		assert_int_equal(f.profile.part_count, in_parts ? 3 : 0);
		for (uint32_t i = 0; i < 3; i++) {
			assert_int_equal(f.profile.entries[i].slice, i);
			assert_int_equal(f.profile.entries[i].samples, samples[i]);
			assert_int_equal(f.profile.entries[i].value, values[i]);
		}
		for (uint32_t i = 0; i < f.profile.part_count; i++) {
			assert_int_equal(f.profile.parts[i].entry, i);
			assert_int_equal(f.profile.parts[i].slice, i);
			assert_int_equal(f.profile.parts[i].value, values[i]);
		}
		end(&f);
	}
}

static void test_cuts_small_branches(void **state)
{
	struct fixture f;

	regroup_four(&f, &(struct four){ { 50, 40, 9, 1 }, false, 10, 1 });
	/* c went into a, d into no frame at all; nothing was lost. */
	assert_int_equal(f.profile.total, 100);
	assert_int_equal(f.profile.entry_count, 3);
	assert_int_equal(f.profile.entries[0].node, PRF_NONE);
	assert_int_equal(f.profile.entries[0].value, 1);
	assert_int_equal(f.profile.entries[1].value, 59);
	assert_int_equal(f.profile.entries[2].value, 40);
	end(&f);
}

static void test_splits_by_object(void **state)
{
	struct fixture f;

	begin(&f);
	add(&f, 0, f.ab, 1);
	add(&f, 0, f.ac, 2);
	add(&f, 0, f.d, 4);
	add(&f, 0, PRF_NONE, 8);
	finish(&f, PROFILE_BY_COMM | PROFILE_BY_OBJECT, 0, 1);
	assert_int_equal(f.profile.group_count, 3);
	assert_int_equal(f.profile.groups[0].object, 0);
	assert_int_equal(f.profile.groups[1].object, 1);
	assert_int_equal(f.profile.groups[2].object, PRF_NONE);
	assert_int_equal(f.profile.total, 15);
	end(&f);
}

static void test_many_entries(void **state)
{
	uint32_t nodes[3000];
	struct fixture f;

	begin(&f);
	for (uint32_t i = 0; i < 3000; i++)
		nodes[i] = node_tree_add(&f.tree, i ? nodes[i / 2] : f.a, frame(&f, "n", i));
	for (uint32_t i = 0; i < 50000; i++)
		add(&f, i % 2, nodes[i * 7919 % 3000], 1);
	finish(&f, PROFILE_BY_COMM, 0, 1);
	assert_int_equal(f.profile.total, 50000);
	assert_int_equal(f.profile.entry_count, 3000);
	for (size_t i = 1; i < f.profile.entry_count; i++) {
		const struct profile_entry *a = &f.profile.entries[i - 1], *b = a + 1;

		assert_true(a->group < b->group || (a->group == b->group && a->node < b->node));
	}
	end(&f);
}

static void test_nothing(void **state)
{
	struct fixture f;

	begin(&f);
	finish(&f, PROFILE_BY_COMM, 1, 1000);
	assert_int_equal(f.profile.entry_count, 0);
	assert_int_equal(f.profile.node_count, 0);
	assert_int_equal(f.profile.group_count, 0);
	end(&f);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_sorts_and_joins),
	cmocka_unit_test(test_drops_what_nothing_uses),
	cmocka_unit_test(test_rounds_the_sum_once),
	cmocka_unit_test(test_entries_have_parts),
	cmocka_unit_test(test_entries_by_time),
	cmocka_unit_test(test_cuts_small_branches),
	cmocka_unit_test(test_splits_by_object),
	cmocka_unit_test(test_many_entries),
	cmocka_unit_test(test_nothing),
};

UNIT_TESTS(tests);
