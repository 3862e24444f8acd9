/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/code_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char replaced_names[256];

static void note_replaced(const struct code_symbol *old, void *context)
{
	strcat(replaced_names, code_map_name(context, old));
	strcat(replaced_names, " ");
}

static void add(struct code_map *map, uint64_t start, uint64_t size, const char *name)
{
	assert_true(code_map_add(map, start, size, name, strlen(name)));
}

static void settle(struct code_map *map)
{
	replaced_names[0] = 0;
	assert_int_equal(code_map_settle(map, note_replaced, map), 0);
}

static const char *at(const struct code_map *map, uint64_t address)
{
	const struct code_symbol *symbol = code_map_find(map, address);

	return symbol ? code_map_name(map, symbol) : "none";
}

static void finds_by_address(void **state)
{
	struct code_map map = { 0 };

	assert_string_equal(at(&map, 5), "none");
	add(&map, 0x2000, 0x10, "b");
	add(&map, 0x1000, 0x100, "a");
	assert_string_equal(at(&map, 0x1000), "none");
	settle(&map);
	assert_string_equal(at(&map, 0xfff), "none");
	assert_string_equal(at(&map, 0x1000), "a");
	assert_string_equal(at(&map, 0x10ff), "a");
	assert_string_equal(at(&map, 0x1100), "none");
	assert_string_equal(at(&map, 0x200f), "b");
	assert_string_equal(at(&map, 0x2010), "none");
	code_map_release(&map);
}

static void newer_code_takes_the_place(void **state)
{
	struct code_map map = { 0 };

	add(&map, 0x1000, 0x100, "old");
	add(&map, 0x3000, 0x10, "stays");
	settle(&map);
	assert_string_equal(replaced_names, "");
	add(&map, 0x1080, 0x100, "new");
	add(&map, 0x3000, 0x10, "stays");
	settle(&map);
	assert_string_equal(replaced_names, "old ");
	assert_string_equal(at(&map, 0x1000), "none");
	assert_string_equal(at(&map, 0x1090), "new");
	assert_string_equal(at(&map, 0x3000), "stays");
	code_map_release(&map);
}

static void same_place_other_name(void **state)
{
	struct code_map map = { 0 };

	add(&map, 0x1000, 0x10, "first");
	settle(&map);
	add(&map, 0x1000, 0x10, "second");
	settle(&map);
	assert_string_equal(replaced_names, "first ");
	add(&map, 0x1000, 0x10, "first");
	settle(&map);
	assert_string_equal(replaced_names, "second ");
	assert_string_equal(at(&map, 0x1000), "first");
	code_map_release(&map);
}

/* The middle one replaced the first, and was then replaced itself: neither is there. */
static void replaced_by_what_is_gone(void **state)
{
	struct code_map map = { 0 };

	add(&map, 60, 10, "first");
	add(&map, 40, 60, "middle");
	add(&map, 1, 49, "last");
	settle(&map);
	assert_string_equal(at(&map, 30), "last");
	assert_string_equal(at(&map, 65), "none");
	assert_string_equal(at(&map, 95), "none");
	code_map_release(&map);
}

static void refuses_the_impossible(void **state)
{
	struct code_map map = { 0 };

	assert_false(code_map_add(&map, 0, 10, "null", 4));
	assert_false(code_map_add(&map, 10, 0, "empty", 5));
	assert_false(code_map_add(&map, 10, 10, "", 0));
	assert_false(code_map_add(&map, UINT64_MAX - 5, 10, "wraps", 5));
	assert_false(code_map_add(&map, 10, UINT64_MAX - 5, "wraps", 5));
	assert_int_equal(map.refused, 5);
	code_map_release(&map);
}

/* Against the plain definition: a symbol is gone when any newer one overlaps it. */
static void agrees_with_the_definition(void **state)
{
	enum { N = 60, SPACE = 400 };
	uint32_t random = 1;

	for (int round = 0; round < 300; round++) {
		struct code_map map = { 0 };
		uint64_t start[N], size[N];
		char name[16];

		for (int i = 0; i < N; i++) {
			random = random * 1103515245 + 12345;
			start[i] = 1 + (random >> 8) % SPACE;
			random = random * 1103515245 + 12345;
			size[i] = 1 + (random >> 8) % 20;
			snprintf(name, sizeof(name), "%d", i);
			add(&map, start[i], size[i], name);
			if (i % 7 == 0)
				settle(&map);
		}
		settle(&map);
		for (int i = 0; i < N; i++) {
			bool gone = false;

			for (int j = i + 1; j < N; j++)
				gone |= start[j] < start[i] + size[i] &&
					start[i] < start[j] + size[j];
			snprintf(name, sizeof(name), "%d", i);
			assert_int_equal(strcmp(at(&map, start[i]), name) == 0, !gone);
		}
		code_map_release(&map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_by_address),
		cmocka_unit_test(newer_code_takes_the_place),
		cmocka_unit_test(same_place_other_name),
		cmocka_unit_test(replaced_by_what_is_gone),
		cmocka_unit_test(refuses_the_impossible),
		cmocka_unit_test(agrees_with_the_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
