/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/mappings.h"
#include "tests/unit/unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACE 64

static struct mapped things[8];

static struct object *thing(size_t number)
{
	return number ? (struct object *)&things[number] : NULL;
}

static int number_of(const struct object *object)
{
	return (int)((const struct mapped *)object - things);
}

/* How many mappings there are of each thing is what they say. */
static void check_users(const struct mappings *a, const struct mappings *b)
{
	uint64_t users[8] = { 0 };

	for (size_t i = 0; i < a->n; i++)
		users[number_of(a->list[i].object)]++;
	for (size_t i = 0; i < b->n; i++)
		users[number_of(b->list[i].object)]++;
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(things[i].users, users[i]);
}

static void add(struct mappings *m, uint64_t start, uint64_t end, uint64_t offset, uintptr_t number)
{
	const struct mapping mapping = { start, end, offset, thing(number) };

	assert_true(mappings_add(m, &mapping));
}

static void check(const struct mappings *m, const char *expected)
{
	char text[512] = "";

	for (size_t i = 0; i < m->n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d-%d+%d=%d ",
			 (int)m->list[i].start, (int)m->list[i].end, (int)m->list[i].offset,
			 number_of(m->list[i].object));
	assert_string_equal(text, expected);
}

static void test_over_others(void **state)
{
	struct mappings m = { 0 };

	add(&m, 30, 40, 0, 1);
	add(&m, 10, 20, 5, 2);
	check(&m, "10-20+5=2 30-40+0=1 ");
	add(&m, 13, 16, 0, 3); /* a hole in the middle */
	check(&m, "10-13+5=2 13-16+0=3 16-20+11=2 30-40+0=1 ");
	add(&m, 12, 35, 7, 4); /* over the ends of two and all of those between */
	check(&m, "10-12+5=2 12-35+7=4 35-40+5=1 ");
	add(&m, 0, 50, 1, 5);
	check(&m, "0-50+1=5 ");
	mappings_release(&m);
}

static void test_no_bytes(void **state)
{
	struct mappings m = { 0 };

	add(&m, 10, 20, 0, 1);
	add(&m, 15, 15, 0, 2);
	add(&m, 18, 12, 0, 2);
	check(&m, "10-20+0=1 ");
	mappings_release(&m);
}

static void test_find(void **state)
{
	struct mappings m = { 0 }, copy = { 0 };
	struct mapping same = { 10, 20, 3, thing(1) };

	assert_null(mappings_find(&m, 10));
	assert_true(mappings_are_changed_by(&m, &same));
	add(&m, 10, 20, 3, 1);
	add(&m, 30, 31, 0, 2);
	assert_null(mappings_find(&m, 9));
	assert_ptr_equal(mappings_find(&m, 10), &m.list[0]);
	assert_ptr_equal(mappings_find(&m, 19), &m.list[0]);
	assert_null(mappings_find(&m, 20));
	assert_ptr_equal(mappings_find(&m, 30), &m.list[1]);
	assert_null(mappings_find(&m, UINT64_MAX));
	assert_false(mappings_are_changed_by(&m, &same));
	same.offset++;
	assert_true(mappings_are_changed_by(&m, &same));
	assert_true(mappings_copy(&copy, &m));
	check_users(&m, &copy);
	add(&m, 5, 40, 0, 3);
	assert_true(mappings_copy(&m, &copy));
	check_users(&m, &copy);
	mappings_release(&m);
	check(&copy, "10-20+3=1 30-31+0=2 ");
	mappings_release(&copy);
	check_users(&m, &copy);
}

static void test_room(void **state)
{
	struct mappings m = { 0 };
	struct mapping more = { 20, 50, 0, thing(1) };

	assert_true(mappings_have_room_for(&m, &more));
	add(&m, 10, 20, 0, 2);
	add(&m, 30, 40, 0, 1);
	add(&m, 50, 60, 0, 2);
	assert_true(mappings_have_room_for(&m, &more));
	more.start = 19;
	assert_false(mappings_have_room_for(&m, &more));
	more = (struct mapping){ 45, 51, 0, thing(1) };
	assert_false(mappings_have_room_for(&m, &more));
	more = (struct mapping){ 0, 70, 0, thing(1) };
	assert_false(mappings_have_room_for(&m, &more));
	mappings_release(&m);
}

/* Against an array with one entry for each address. */
static void test_random(void **state)
{
	struct mappings m = { 0 }, none = { 0 };
	uintptr_t expected[SPACE] = { 0 };

	srand(1);
	for (int round = 0; round < 5000; round++) {
		uint64_t start = (uint64_t)rand() % SPACE,
			 end = start + 1 + (uint64_t)rand() % (SPACE - start);
		uintptr_t number = 1 + (uintptr_t)rand() % 5;

		add(&m, start, end, start, number);
		check_users(&m, &none);
		for (uint64_t i = start; i < end; i++)
			expected[i] = number;
		for (uint64_t i = 0; i < SPACE; i++) {
			const struct mapping *found = mappings_find(&m, i);

			assert_ptr_equal(found ? found->object : NULL, thing(expected[i]));
			/* Offsets were the addresses themselves. */
			assert_true(!found || found->offset == found->start);
		}
	}
	mappings_release(&m);
	check_users(&m, &none);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_over_others), cmocka_unit_test(test_no_bytes),
	cmocka_unit_test(test_find),	    cmocka_unit_test(test_room),
	cmocka_unit_test(test_random),
};

UNIT_TESTS(tests);
