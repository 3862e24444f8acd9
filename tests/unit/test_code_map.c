/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/symbols/code_map.h"
#include "tests/unit/unit.h"

#include "common/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Code that came between two moments. */
static void add(struct code_map *map, struct code_piece piece, const char *name)
{
	assert_true(code_map_add(map, &piece, name, strlen(name)));
}

struct added {
	struct code_piece piece;
	const char *name;
};

static void add_all(struct code_map *map, const struct added *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add(map, all[i].piece, all[i].name);
}

#define ADD(map, ...)                                                                              \
	add_all(map, (const struct added[]){ __VA_ARGS__ },                                        \
		sizeof((const struct added[]){ __VA_ARGS__ }) / sizeof(struct added))

static const char *at(const struct code_map *map, uint64_t address, uint64_t time_ns)
{
	uint32_t symbol;

	switch (code_map_find(map, address, time_ns, &symbol)) {
	case CODE_KNOWN: return code_map_name(map, &map->symbols[symbol]);
	case CODE_UNKNOWN: return "unknown";
	case CODE_AMBIGUOUS: break;
	}
	return "ambiguous";
}

struct expected {
	uint64_t address, time_ns;
	const char *name;
};

static void expect(const struct code_map *map, const struct expected *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_string_equal(at(map, all[i].address, all[i].time_ns), all[i].name);
}

#define EXPECT(map, ...)                                                                           \
	expect(map, (const struct expected[]){ __VA_ARGS__ },                                      \
	       sizeof((const struct expected[]){ __VA_ARGS__ }) / sizeof(struct expected))

static void finds_by_address(void **state)
{
	struct code_map map = { 0 };

	assert_string_equal(at(&map, 5, 1), "unknown");
	ADD(&map, { { 0x2000, 0x10, 1, 2 }, "b" }, { { 0x1000, 0x100, 1, 2 }, "a" });
	EXPECT(&map, { 0xfff, 5, "unknown" }, { 0x1000, 5, "a" }, { 0x10ff, 5, "a" },
	       { 0x1100, 5, "unknown" }, { 0x200f, 5, "b" }, { 0x2010, 5, "unknown" });
	code_map_release(&map);
}

/* Three owners of one place: each has its time, and between two of them the owner is not known. */
static void owners_have_their_times(void **state)
{
	struct code_map map = { 0 };

	ADD(&map, { { 0x1000, 0x100, 10, 20 }, "first" }, { { 0x1000, 0x100, 30, 40 }, "second" },
	    { { 0x1000, 0x100, 50, 60 }, "third" });
	EXPECT(&map, { 0x1010, 5, "first" }, { 0x1010, 30, "first" }, { 0x1010, 31, "ambiguous" },
	       { 0x1010, 39, "ambiguous" }, { 0x1010, 40, "second" }, { 0x1010, 50, "second" },
	       { 0x1010, 55, "ambiguous" }, { 0x1010, 60, "third" });
	code_map_release(&map);
}

/* All that was known at the first look: only the last one holds since. */
static void owners_of_one_look(void **state)
{
	struct code_map map = { 0 };

	ADD(&map, { { 0x1000, 0x100, 0, 20 }, "first" }, { { 0x1000, 0x100, 0, 20 }, "second" });
	EXPECT(&map, { 0x1010, 10, "ambiguous" }, { 0x1010, 20, "second" });
	code_map_release(&map);
}

static void exact_times(void **state)
{
	struct code_map map = { 0 };

	ADD(&map, { { 0x1000, 0x100, 10, 10, true }, "first" },
	    { { 0x1000, 0x100, 20, 20, true }, "second" });
	EXPECT(&map, { 0x1010, 9, "ambiguous" }, { 0x1010, 10, "first" }, { 0x1010, 19, "first" },
	       { 0x1010, 21, "second" });
	code_map_release(&map);
}

/* Code that was overlapped in part is gone as a whole, but was there before. */
static void overlapped_in_part(void **state)
{
	struct code_map map = { 0 };

	ADD(&map, { { 0x1000, 0x100, 10, 20 }, "old" }, { { 0x3000, 0x10, 10, 20 }, "stays" },
	    { { 0x1080, 0x100, 30, 40 }, "new" });
	EXPECT(&map, { 0x1000, 30, "old" }, { 0x1000, 50, "ambiguous" }, { 0x1090, 30, "old" },
	       { 0x1090, 50, "new" });
	/* Never covered before, but its code may have been another one. */
	EXPECT(&map, { 0x1110, 25, "ambiguous" }, { 0x1110, 50, "new" }, { 0x3000, 50, "stays" });
	code_map_release(&map);
}

static void the_same_again(void **state)
{
	struct code_map map = { 0 };

	ADD(&map, { { 0x1000, 0x10, 10, 20 }, "first" }, { { 0x1000, 0x10, 30, 40 }, "first" });
	assert_int_equal(map.n, 1);
	assert_string_equal(at(&map, 0x1000, 35), "first");
	ADD(&map, { { 0x1000, 0x10, 50, 60 }, "second" }, { { 0x1000, 0x10, 70, 80 }, "first" });
	EXPECT(&map, { 0x1000, 65, "second" }, { 0x1000, 80, "first" });
	code_map_release(&map);
}

/* What was there before is gone all the same. */
static void without_a_name(void **state)
{
	struct code_map map = { 0 };

	ADD(&map, { { 0x1000, 0x100, 10, 20 }, "old" }, { { 0x1000, 0x10, 30, 40 }, "" });
	EXPECT(&map, { 0x1000, 25, "old" }, { 0x1000, 50, "ambiguous" },
	       { 0x1080, 50, "ambiguous" });
	code_map_release(&map);
}

static void refuses_the_impossible(void **state)
{
	static const struct code_piece impossible[] = {
		{ 0, 10 },
		{ 10, 0 },
		{ UINT64_MAX - 5, 10 },
		{ 10, UINT64_MAX - 5 },
	};
	struct code_map map = { 0 };

	for (size_t i = 0; i < 4; i++)
		assert_false(code_map_add(&map, &impossible[i], "name", 4));
	assert_int_equal(map.refused, 4);
	assert_int_equal(map.full_ns, 0);
	code_map_release(&map);
}

/* Once a symbol had to be left out, what it replaced is not known. */
static void full(void **state)
{
	struct code_map map = { 0 };

	add(&map, (struct code_piece){ 0x1000, 0x10, 10, 20 }, "known");
	for (uint32_t i = 0; i < LIMIT_JIT_FUNCTIONS; i++)
		code_map_add_again(&map, &(struct code_piece){ 0x2000 + i, 1, 30, 40 }, 0);
	assert_int_equal(map.refused, 1);
	EXPECT(&map, { 0x1000, 29, "known" }, { 0x1000, 30, "ambiguous" });
	code_map_release(&map);
}

/* All maps together: one has as much as it leaves for others, and so have those of one user. */
static void full_together(void **state)
{
	const uint64_t others = LIMIT_JIT_BYTES - 100000;
	struct shares shares = { .limit = LIMIT_JIT_BYTES };
	struct code_map map = { .shares = &shares, .user = 1 };
	struct code_map same = { .shares = &shares, .user = 1 };
	struct code_map late = { .shares = &shares, .user = 2 };
	struct code_map of_root = { .shares = &shares };
	struct code_piece piece = { 0x1000, 0x10, 10, 20 };
	uint64_t before;

	shares_take(&shares, 0, others);
	for (; !map.refused; piece.start += 0x10)
		code_map_add(&map, &piece, "name", 4);
	assert_true(map.crowded);
	assert_int_equal(shares.taken - others, map.bytes);
	assert_in_range(map.bytes, 50000, 50000 + 1000);
	assert_true(map.bytes >= map.n * (sizeof(*map.symbols) + sizeof("name")));
	EXPECT(&map, { 0x1000, 9, "name" }, { 0x1000, 10, "ambiguous" });
	/* What is there needs no room. */
	piece.start = 0x1000;
	assert_true(code_map_add(&map, &piece, "name", 4));
	assert_false(code_map_take(&map, 1));
	assert_false(code_map_take(&same, 1));
	/* Places that change hands, and what else belongs to the map. */
	before = shares.taken;
	for (int i = 0; i < 10; i++)
		assert_true(code_map_add(&late, &piece, i % 2 ? "a" : "b", 1));
	assert_true(shares.taken - before > 10 * sizeof(*late.symbols));
	before = shares.taken;
	assert_true(code_map_take(&late, 1000));
	assert_int_equal(shares.taken, before + 1000);
	code_map_release(&late);
	/* Of root's processes too, each leaves as much. */
	assert_true(code_map_take(&of_root, 30000));
	assert_false(code_map_take(&of_root, 1));
	code_map_release(&of_root);
	code_map_release(&map);
	assert_int_equal(shares.taken, others);
	assert_true(code_map_add(&map, &piece, "name", 4));
	code_map_release(&map);
	shares_release(&shares);
}

/* Against the plain definition: the newest one that came by then, unless a newer one overlaps it.
 */
static void agrees_with_the_definition(void **state)
{
	enum { N = 60, SPACE = 400 };
	uint32_t random = 1;

	for (int round = 0; round < 200; round++) {
		struct code_map map = { 0 };
		uint64_t start[N], size[N];
		char name[16];

		for (int i = 0; i < N; i++) {
			random = random * 1103515245 + 12345;
			start[i] = 1 + (random >> 8) % SPACE;
			random = random * 1103515245 + 12345;
			size[i] = 1 + (random >> 8) % 20;
			snprintf(name, sizeof(name), "%d", i);
			add(&map, (struct code_piece){ start[i], size[i], 10 * i, 10 * i, true },
			    name);
		}
		for (int i = 0; i < N; i++) {
			int gone = N;

			for (int j = i + 1; j < N && gone == N; j++)
				if (start[j] < start[i] + size[i] && start[i] < start[j] + size[j])
					gone = j;
			snprintf(name, sizeof(name), "%d", i);
			for (int t = 0; t < N; t++)
				assert_int_equal(strcmp(at(&map, start[i], 10 * t + 5), name) == 0,
						 t >= i && t < gone);
		}
		code_map_release(&map);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(finds_by_address),	  cmocka_unit_test(owners_have_their_times),
	cmocka_unit_test(owners_of_one_look),	  cmocka_unit_test(exact_times),
	cmocka_unit_test(overlapped_in_part),	  cmocka_unit_test(the_same_again),
	cmocka_unit_test(refuses_the_impossible), cmocka_unit_test(full),
	cmocka_unit_test(full_together),	  cmocka_unit_test(agrees_with_the_definition),
	cmocka_unit_test(without_a_name),
};

UNIT_TESTS(tests);
