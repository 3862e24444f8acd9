/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct object a = { .definition = { .path = "a" } };
static struct object b = { .definition = { .path = "b" } };

static void map(struct spaces *s, uint32_t pid, uint64_t start, uint64_t end, uint64_t offset,
		struct object *object)
{
	struct mapping m = { .start = start, .end = end, .offset = offset, .object = object };

	assert_int_equal(spaces_map(s, pid, &m), 0);
}

/* The file offset of an address, or UINT64_MAX where nothing is mapped. */
static uint64_t offset_of(struct spaces *s, uint32_t pid, uint64_t address, struct object *object)
{
	const struct mapping *m = mappings_find(&spaces_layout(s, pid)->mappings, address);

	if (!m)
		return UINT64_MAX;
	assert_ptr_equal(m->object, object);
	return address - m->start + m->offset;
}

static void finds_what_is_mapped(void **state)
{
	struct spaces *s = spaces_new();

	map(s, 1, 0x2000, 0x3000, 0x100, &b);
	map(s, 1, 0x1000, 0x2000, 0, &a);
	assert_int_equal(offset_of(s, 1, 0xfff, NULL), UINT64_MAX);
	assert_int_equal(offset_of(s, 1, 0x1000, &a), 0);
	assert_int_equal(offset_of(s, 1, 0x1fff, &a), 0xfff);
	assert_int_equal(offset_of(s, 1, 0x2000, &b), 0x100);
	assert_int_equal(offset_of(s, 1, 0x3000, NULL), UINT64_MAX);
	assert_int_equal(offset_of(s, 2, 0x1000, NULL), UINT64_MAX);
	assert_true(spaces_knows(s, 1));
	assert_false(spaces_knows(s, 2));
	spaces_free(s);
}

static void later_mappings_replace_what_they_cover(void **state)
{
	struct spaces *s = spaces_new();

	map(s, 1, 0x1000, 0x9000, 0, &a);
	map(s, 1, 0x3000, 0x4000, 0x500, &b);
	assert_int_equal(offset_of(s, 1, 0x2fff, &a), 0x1fff);
	assert_int_equal(offset_of(s, 1, 0x3000, &b), 0x500);
	assert_int_equal(offset_of(s, 1, 0x4000, &a), 0x3000);
	assert_int_equal(offset_of(s, 1, 0x8fff, &a), 0x7fff);
	assert_int_equal(spaces_layout(s, 1)->mappings.n, 3);
	map(s, 1, 0x2000, 0x8000, 0, &b);
	assert_int_equal(offset_of(s, 1, 0x1fff, &a), 0xfff);
	assert_int_equal(offset_of(s, 1, 0x3000, &b), 0x1000);
	assert_int_equal(offset_of(s, 1, 0x8000, &a), 0x7000);
	assert_int_equal(spaces_layout(s, 1)->mappings.n, 3);
	map(s, 1, 0, 0x10000, 0, &b);
	assert_int_equal(spaces_layout(s, 1)->mappings.n, 1);
	spaces_free(s);
}

static void children_have_their_parents_layout(void **state)
{
	struct spaces *s = spaces_new();

	map(s, 1, 0x1000, 0x2000, 0, &a);
	assert_int_equal(spaces_fork(s, 1, 2), 0);
	assert_ptr_equal(spaces_layout(s, 1), spaces_layout(s, 2));
	map(s, 2, 0x5000, 0x6000, 0, &b);
	assert_int_equal(offset_of(s, 1, 0x5000, NULL), UINT64_MAX);
	assert_int_equal(offset_of(s, 2, 0x5000, &b), 0);
	assert_int_equal(offset_of(s, 2, 0x1000, &a), 0);
	spaces_remove(s, 1);
	assert_false(spaces_knows(s, 1));
	assert_int_equal(offset_of(s, 2, 0x1000, &a), 0);
	spaces_free(s);
}

static void exec_leaves_nothing(void **state)
{
	struct spaces *s = spaces_new();

	map(s, 1, 0x1000, 0x2000, 0, &a);
	assert_int_equal(spaces_fork(s, 1, 2), 0);
	assert_int_equal(spaces_clear(s, 2), 0);
	assert_true(spaces_knows(s, 2));
	assert_int_equal(spaces_layout(s, 2)->mappings.n, 0);
	assert_int_equal(spaces_layout(s, 1)->mappings.n, 1);
	spaces_free(s);
}

static void an_id_stands_for_one_state(void **state)
{
	struct spaces *s = spaces_new();
	uint64_t first, second;

	map(s, 1, 0x1000, 0x2000, 0, &a);
	first = spaces_layout(s, 1)->id;
	map(s, 1, 0x1000, 0x2000, 0, &a);
	assert_int_equal(spaces_layout(s, 1)->id, first);
	map(s, 1, 0x1000, 0x2000, 0, &b);
	second = spaces_layout(s, 1)->id;
	assert_int_not_equal(first, second);
	assert_int_equal(spaces_clear(s, 1), 0);
	assert_int_not_equal(spaces_layout(s, 1)->id, first);
	assert_int_not_equal(spaces_layout(s, 1)->id, second);
	spaces_free(s);
}

/* Against a plain array of pages. */
static void agrees_with_a_simple_model(void **state)
{
	struct spaces *s = spaces_new();
	struct object *model[64] = { 0 };
	uint64_t offsets[64] = { 0 };

	srandom(3);
	for (int round = 0; round < 500; round++) {
		uint64_t from = (uint64_t)random() % 64, n = 1 + (uint64_t)random() % (64 - from);
		struct object *object = random() % 2 ? &a : &b;
		uint64_t offset = (uint64_t)(random() % 16) << 12;

		map(s, 1, from << 12, (from + n) << 12, offset, object);
		for (uint64_t i = 0; i < n; i++) {
			model[from + i] = object;
			offsets[from + i] = offset + (i << 12);
		}
		for (uint64_t i = 0; i < 64; i++)
			assert_int_equal(offset_of(s, 1, i << 12, model[i]),
					 model[i] ? offsets[i] : UINT64_MAX);
	}
	spaces_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_is_mapped),
		cmocka_unit_test(later_mappings_replace_what_they_cover),
		cmocka_unit_test(children_have_their_parents_layout),
		cmocka_unit_test(exec_leaves_nothing),
		cmocka_unit_test(an_id_stands_for_one_state),
		cmocka_unit_test(agrees_with_a_simple_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
