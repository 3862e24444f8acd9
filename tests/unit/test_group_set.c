/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/group_set.h"
#include "tests/unit/unit.h"

static const struct tally_group plain = { NULL, 3, 1, PRF_NONE, 0 };

static void test_groups(void **state)
{
	struct group_set set;

	group_set_init(&set);
	assert_int_equal(group_set_add(&set, "0123456789", 10, &plain), 0);
	assert_int_equal(group_set_add(&set, "0123456789a", 11, &plain), 1);
	assert_int_equal(group_set_add(&set, "0123456789", 10, &plain), 0);
	assert_int_equal(set.n, 2);
	assert_int_equal(set.groups[1].trace, 3);
	group_set_release(&set);
}

/* A part has what its group has, and its number; parts of both kinds are parts of parts, too. */
static void test_parts(void **state)
{
	struct group_set set;
	uint32_t cpu, both;

	group_set_init(&set);
	assert_int_equal(group_set_add(&set, "0123456789", 10, &plain), 0);
	cpu = group_set_part(&set, 0, GROUP_PART_CPU, 7);
	assert_int_equal(cpu, 1);
	assert_int_equal(group_set_part(&set, 0, GROUP_PART_CPU, 8), 2);
	assert_int_equal(group_set_part(&set, 0, GROUP_PART_CPU, 7), cpu);
	assert_int_equal(group_set_part(&set, 0, GROUP_PART_CPU, 7), cpu);
	assert_int_equal(set.groups[cpu].cpu, 7);
	assert_int_equal(set.groups[cpu].event, 1);
	assert_int_equal(group_set_part(&set, 0, GROUP_PART_PARALLELISM, 7), 3);
	both = group_set_part(&set, cpu, GROUP_PART_PARALLELISM, 2);
	assert_int_equal(both, 4);
	assert_int_equal(set.groups[both].cpu, 7);
	assert_int_equal(set.groups[both].parallelism, 2);
	assert_int_equal(set.n, 5);
	group_set_release(&set);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_groups),
	cmocka_unit_test(test_parts),
};

UNIT_TESTS(tests);
