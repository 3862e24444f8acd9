/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/mappings.h"
#include "record/system/shares.h"
#include "tests/unit/unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct mapped things[8];

static struct object *thing(size_t number)
{
	return number ? (struct object *)&things[number] : NULL;
}

static int number_of(const struct object *object)
{
	return (int)((const struct mapped *)object - things);
}

static void count(const struct mappings *m, uint64_t users[8])
{
	struct mapping_cursor cursor = { 0 };
	const struct mapping *mapping;
	size_t n = 0;

	for (; (mapping = mappings_next(m, &cursor)); n++)
		users[number_of(mapping->object)]++;
	assert_int_equal(n, m->n);
}

/* How many mappings there are of each thing is what they say. */
static void check_users(const struct mappings *m)
{
	uint64_t users[8] = { 0 };

	count(m, users);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(things[i].users, users[i]);
}

/* Two that may share some of it: what is in either is used. */
static void check_both(const struct mappings *a, const struct mappings *b)
{
	uint64_t users[8] = { 0 };

	count(a, users);
	count(b, users);
	for (size_t i = 0; i < 8; i++) {
		assert_true(things[i].users <= users[i]);
		assert_int_equal(!things[i].users, !users[i]);
	}
}

static void add(struct mappings *m, uint64_t start, uint64_t end, uint64_t offset, uintptr_t number)
{
	const struct mapping mapping = { start, end, offset, thing(number) };

	assert_true(mappings_add(m, &mapping));
}

static void check(const struct mappings *m, const char *expected)
{
	struct mapping_cursor cursor = { 0 };
	const struct mapping *mapping;
	char text[512] = "";

	while ((mapping = mappings_next(m, &cursor)))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%d-%d+%d=%d ",
			 (int)mapping->start, (int)mapping->end, (int)mapping->offset,
			 number_of(mapping->object));
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
	assert_int_equal(mappings_find(&m, 10)->start, 10);
	assert_int_equal(mappings_find(&m, 19)->start, 10);
	assert_null(mappings_find(&m, 20));
	assert_int_equal(mappings_find(&m, 30)->start, 30);
	assert_null(mappings_find(&m, UINT64_MAX));
	assert_false(mappings_are_changed_by(&m, &same));
	same.offset++;
	assert_true(mappings_are_changed_by(&m, &same));
	assert_true(mappings_copy(&copy, &m));
	check_both(&m, &copy);
	add(&m, 5, 40, 0, 3);
	assert_true(mappings_copy(&m, &copy));
	check_both(&m, &copy);
	mappings_release(&m);
	check(&copy, "10-20+3=1 30-31+0=2 ");
	mappings_release(&copy);
	check_both(&m, &copy);
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

/* Without a thing nothing is there. */
static void test_nothing(void **state)
{
	struct mappings m = { 0 };

	add(&m, 10, 20, 0, 0);
	check(&m, "");
	add(&m, 10, 20, 0, 1);
	add(&m, 30, 40, 0, 2);
	add(&m, 15, 18, 0, 0);
	check(&m, "10-15+0=1 18-20+8=1 30-40+0=2 ");
	add(&m, 0, 50, 0, 0);
	check(&m, "");
	check_users(&m);
	mappings_release(&m);
}

/* Against an array with one entry for each address. */
static void check_random(uint64_t space, uint64_t longest, int rounds)
{
	struct mappings m = { 0 };
	uintptr_t *expected = calloc(space, sizeof(*expected));

	for (int round = 0; round < rounds; round++) {
		uint64_t start = (uint64_t)rand() % space,
			 end = start + 1 + (uint64_t)rand() % longest;
		uintptr_t number = (uintptr_t)rand() % 6;

		/* Now and then over many others. */
		if (end > space || !(rand() % 1000))
			end = space;
		add(&m, start, end, start, number);
		for (uint64_t i = start; i < end; i++)
			expected[i] = number;
		if (space > 64 && round % 256)
			continue;
		check_users(&m);
		for (uint64_t i = 0; i < space; i++) {
			const struct mapping *found = mappings_find(&m, i);

			assert_ptr_equal(found ? found->object : NULL, thing(expected[i]));
			/* Offsets were the addresses themselves. */
			assert_true(!found || found->offset == found->start);
		}
	}
	mappings_release(&m);
	check_users(&m);
	free(expected);
}

static void test_random(void **state)
{
	srand(1);
	check_random(64, 64, 5000);
	check_random(20000, 4, 40000);
	check_random(20000, 200, 20000);
}

#define MANY 20000

static uint64_t taken_by_many(struct shares *shares, struct mappings *m)
{
	mappings_charge(m, shares, 7);
	/* Downwards, as mmap() gives addresses. */
	for (uint64_t i = MANY; i-- > 0;)
		add(m, i * 2, i * 2 + 1, 0, 1);
	assert_int_equal(m->n, MANY);
	return shares_of(shares, 7);
}

/* A child that maps a little costs little, and what nobody has any more is given back. */
static void test_copies_share(void **state)
{
	struct shares shares = { .limit = UINT64_MAX };
	struct mappings m = { 0 }, copies[10] = { { 0 } };
	uint64_t bytes = taken_by_many(&shares, &m);

	assert_true(bytes > MANY * sizeof(struct mapping) &&
		    bytes < MANY * sizeof(struct mapping) * 3 / 2);
	for (uint32_t i = 0; i < 10; i++) {
		uint64_t most = mappings_addition_bytes(&m);

		mappings_charge(&copies[i], &shares, 100 + i);
		assert_true(mappings_copy(&copies[i], &m));
		add(&copies[i], MANY, MANY + 1, 5, 2);
		assert_int_equal(mappings_find(&copies[i], MANY)->offset, 5);
		assert_true(shares_of(&shares, 100 + i) <= 2 * most);
		assert_true(most < bytes / 20);
	}
	assert_int_equal(mappings_find(&m, MANY)->offset, 0);
	/* Also where there is room in a block of who pays for the copy. */
	add(&m, 1, 2, 6, 3);
	mappings_charge(&copies[0], &shares, 7);
	assert_true(mappings_copy(&copies[0], &m));
	add(&copies[0], 3, 4, 7, 3);
	assert_int_equal(mappings_find(&copies[0], 3)->offset, 7);
	assert_null(mappings_find(&m, 3));
	mappings_release(&m);
	for (uint32_t i = 0; i < 10; i++)
		mappings_release(&copies[i]);
	check_users(&m);
	assert_int_equal(shares.taken, 0);
	shares_release(&shares);
}

/* However they came and went, there are no more blocks than about twice what they need. */
static void test_few_blocks(void **state)
{
	struct shares shares = { .limit = UINT64_MAX };
	struct mappings m = { 0 };

	taken_by_many(&shares, &m);
	for (uint64_t i = 0; i + 50 < MANY; i += 50)
		add(&m, i * 2, i * 2 + 98, 0, i % 100 ? 0 : 2);
	assert_true(m.n < MANY / 20);
	assert_true(m.block_count * 16 < m.n);
	mappings_release(&m);
	assert_int_equal(shares.taken, 0);
	shares_release(&shares);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_over_others),  cmocka_unit_test(test_no_bytes),
	cmocka_unit_test(test_find),	     cmocka_unit_test(test_room),
	cmocka_unit_test(test_nothing),	     cmocka_unit_test(test_random),
	cmocka_unit_test(test_copies_share), cmocka_unit_test(test_few_blocks),
};

UNIT_TESTS(tests);
