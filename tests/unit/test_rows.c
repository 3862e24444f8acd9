/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/tables/rows.h"
#include "report/views/top.h"
#include "tests/unit/error_check.h"
#include "tests/unit/small_profile.h"
#include "tests/unit/unit.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>

static const struct row *find(const struct row *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void expect_row(const struct rows *rows, const char *name, uint64_t self, uint64_t total)
{
	const struct row *row = find(rows->list, rows->count, name);

	assert_int_equal(row->self, self);
	assert_int_equal(row->total, total);
}

static void fill(struct small_profile *s)
{
	uint32_t one, two;

	small_begin(s);
	one = small_group(s, "one", 1, 1);
	two = small_group(s, "two", 2, 2);
	small_entry(s, one, "main;f", 3);
	small_entry(s, one, "main;f;g;f", 5); /* recursion */
	small_entry(s, two, "main;g", 2);
	small_entry(s, two, "main", 1);
	small_entry(s, two, NULL, 4);
}

/* small_end() is for the caller. */
static void fill_rows(struct rows *rows, struct small_profile *s, enum rows_key by)
{
	fill(s);
	assert_no_error(rows_init(rows, small_finish(s), by));
}

static void test_self_and_total(void **state)
{
	struct small_profile s;
	struct rows rows;

	fill_rows(&rows, &s, ROWS_BY_FUNCTION);
	assert_int_equal(rows.count, 3);
	expect_row(&rows, "f", 8, 8);
	expect_row(&rows, "g", 2, 7);
	expect_row(&rows, "main", 1, 11);
	/* Most self first. */
	assert_string_equal(rows.list[0].name, "f");
	assert_string_equal(rows.list[2].name, "main");
	rows_release(&rows);
	small_end(&s);
}

/* A function that calls a copy of itself is one function in runs that are compared: it counts
 * once, as in recursion. */
static void test_copies_in_a_run(void **state)
{
	struct small_profile s;
	struct rows rows;

	small_begin_with(
		&s, "one",
		SMALL_STACKS(
			{ "main;f", 3 }, { "main;f;f.part.0", 5 },
			{ "main;rust::h0123456789abcdef;rust::h89abcdef01234567.llvm.42", 2 }));
	assert_no_error(rows_init_run(&rows, small_finish(&s), ROWS_BY_FUNCTION, 0));
	assert_int_equal(rows.count, 3);
	expect_row(&rows, "f", 8, 8);
	expect_row(&rows, "rust::h0123456789abcdef", 2, 2);
	rows_release(&rows);

	/* Nothing is joined where nothing is compared. */
	assert_no_error(rows_init(&rows, &s.profile, ROWS_BY_FUNCTION));
	assert_int_equal(rows.count, 5);
	rows_release(&rows);
	small_end(&s);
}

/* A frame that has no row, such as that of a group, takes nothing from the function of its name. */
static void test_named_as_a_group(void **state)
{
	struct small_profile s;
	struct rows rows;

	small_begin_with(&s, "one", SMALL_STACKS({ "k:main;main;f;main;f", 3 }, { "k:main;g", 2 }));
	s.frames.frames[0].kind = PROFILE_FRAME_GROUP;
	assert_no_error(rows_init(&rows, small_finish(&s), ROWS_BY_FUNCTION));
	expect_row(&rows, "main", 0, 3);
	expect_row(&rows, "f", 3, 3);
	expect_row(&rows, "g", 2, 2);
	rows_release(&rows);
	small_end(&s);
}

static void expect_key(const char *name, const char *expected)
{
	struct buffer key = { 0 };

	row_common_key(&key, ROWS_BY_FUNCTION, name, "");
	assert_string_equal(buffer_string(&key), expected);
	row_common_key(&key, ROWS_BY_LINE, name, "");
	assert_string_equal(buffer_string(&key), name);
	buffer_release(&key);
}

static void test_common_names(void **state)
{
	static const char *const copies[] = { "f.cold",
					      "f.cold.12",
					      "f.part.0",
					      "f.constprop.0.isra.1.cold",
					      "f.lto_priv.0.lto_priv.1",
					      "f.llvm.17254881282827",
					      "f [clone .cold]",
					      "f [clone .part.0] [clone .isra.1]",
					      "f::h0123456789abcdef",
					      "f::h0123456789abcdef [clone .llvm.42]" };
	static const char *const others[] = { "main.coldPath",
					      "main.cold.func1",
					      "com.acme.coldstorage.Reader.read",
					      "shop.part.list",
					      "shop.part",
					      "shop.isra.0x",
					      "f.12",
					      ".cold",
					      ".part.0",
					      "12",
					      "a [clone x].b",
					      "[clone ]",
					      "f[clone ]",
					      "]",
					      "" };

	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++)
		expect_key(copies[i], "f");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		expect_key(others[i], others[i]);
	expect_key("f.isra.0 [guessed]", "f [guessed]");
	expect_key(" [guessed]", " [guessed]");
}

static void test_by_comm(void **state)
{
	struct small_profile s;
	struct rows rows;

	fill_rows(&rows, &s, ROWS_BY_COMM);
	assert_int_equal(rows.count, 2);
	assert_int_equal(find(rows.list, rows.count, "one")->self, 8);
	assert_int_equal(find(rows.list, rows.count, "two")->self, 7);
	rows_release(&rows);
	small_end(&s);
}

static size_t neighbours_of(const char *regex, struct small_profile *s,
			    struct row_neighbours **list)
{
	regex_t compiled;
	size_t n;

	assert_int_equal(regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB), 0);
	assert_no_error(rows_neighbours(list, &n, small_finish(s), &compiled));
	regfree(&compiled);
	return n;
}

static void test_callers_and_callees(void **state)
{
	struct row_neighbours *list;
	struct small_profile s;

	fill(&s);
	assert_int_equal(neighbours_of("^f$", &s, &list), 1);
	assert_int_equal(list[0].row.total, 8);
	/* The outermost f is called by main, and the innermost calls nothing. */
	assert_int_equal(list[0].caller_count, 1);
	assert_int_equal(find(list[0].callers, 1, "main")->total, 8);
	assert_int_equal(list[0].callee_count, 1);
	assert_int_equal(find(list[0].callees, 1, "[self]")->total, 8);
	rows_neighbours_free(list, 1);

	assert_int_equal(neighbours_of("main", &s, &list), 1);
	assert_int_equal(find(list[0].callers, list[0].caller_count, "[root]")->total, 11);
	assert_int_equal(find(list[0].callees, list[0].callee_count, "f")->total, 8);
	assert_int_equal(find(list[0].callees, list[0].callee_count, "g")->total, 2);
	assert_int_equal(find(list[0].callees, list[0].callee_count, "[self]")->total, 1);
	rows_neighbours_free(list, 1);
	small_end(&s);
}

static void expect_same(const struct row *a, const struct row *b)
{
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->total, b->total);
	assert_int_equal(a->total_samples, b->total_samples);
}

/* What is found for one function does not depend on which others are asked for. */
static void test_many_at_once(void **state)
{
	struct row_neighbours *all, *one;
	struct small_profile s;

	fill(&s);
	small_entry(&s, 0, "f;f;main;h;main;main;g", 7);
	assert_int_equal(neighbours_of(".", &s, &all), 4);
	for (size_t i = 0; i < 4; i++) {
		char regex[32];

		snprintf(regex, sizeof(regex), "^%s$", all[i].row.name);
		assert_int_equal(neighbours_of(regex, &s, &one), 1);
		expect_same(&all[i].row, &one->row);
		assert_int_equal(all[i].caller_count, one->caller_count);
		assert_int_equal(all[i].callee_count, one->callee_count);
		for (size_t k = 0; k < one->caller_count; k++)
			expect_same(&all[i].callers[k], &one->callers[k]);
		for (size_t k = 0; k < one->callee_count; k++)
			expect_same(&all[i].callees[k], &one->callees[k]);
		rows_neighbours_free(one, 1);
	}
	/* main's outermost caller is f, and its innermost callee g. */
	assert_int_equal(find(all[0].callers, all[0].caller_count, "f")->total, 7);
	assert_int_equal(find(all[0].callees, all[0].callee_count, "g")->total, 9);
	rows_neighbours_free(all, 4);
	small_end(&s);
}

/* All functions may be asked for: lists as long as the table for each of them were too much. */
static void test_all_of_many(void **state)
{
	enum { DEPTH = 60, FUNCTIONS = DEPTH * SMALL_ENTRIES };
	struct row_neighbours *list;
	struct small_profile s;
	char stack[512];

	small_begin(&s);
	small_group(&s, "one", 1, 1);
	for (unsigned int i = 0; i < FUNCTIONS; i += DEPTH) {
		size_t size = 0;

		for (unsigned int k = i; k < i + DEPTH; k++)
			size += (size_t)snprintf(stack + size, sizeof(stack) - size, "%sf%u",
						 k > i ? ";" : "", k);
		small_entry(&s, 0, stack, 1);
	}
	assert_int_equal(neighbours_of(".", &s, &list), FUNCTIONS);
	assert_true(malloc_usable_size(list[0].callers) < 10 * sizeof(struct row));
	assert_true(malloc_usable_size(list[0].callees) < 10 * sizeof(struct row));
	rows_neighbours_free(list, FUNCTIONS);
	small_end(&s);
}

static void test_nothing_matches(void **state)
{
	struct row_neighbours *list;
	struct small_profile s;

	fill(&s);
	assert_int_equal(neighbours_of("nothing", &s, &list), 0);
	rows_neighbours_free(list, 0);
	small_end(&s);
}

static void test_interval(void **state)
{
	/* 50 of 100: 1.96 * sqrt(0.25 / (100 + 1.96^2)) */
	assert_true(fabs(share_interval(50, 100) - 9.617) < 0.001);
	/* None or all of few is no certainty. */
	assert_true(share_interval(0, 10) > 10);
	assert_true(share_interval(10, 10) > 10);
	assert_true(share_interval(0, 0) == 0);
	assert_true(share_interval(500000, 1000000) < 0.1);
}

/* The first trace need not be one that says where it was recorded. */
static void test_hosts(void **state)
{
	const struct profile_trace traces[] = { { .host = "", .kernel = "" },
						{ .host = "one", .kernel = "6.1" },
						{ .host = "two", .kernel = "6.2" } };
	struct view_options options = { 0 };
	struct small_profile s;
	struct sink sink;

	fill(&s);
	s.profile.traces = traces;
	s.profile.trace_count = 3;
	sink_init(&sink, -1);
	assert_no_error(top_render(small_finish(&s), &options, &sink));
	sink_char(&sink, 0);
	assert_non_null(strstr((char *)sink.buffer.data, " lost; one 6.1, two 6.2\n"));
	sink_release(&sink);
	small_end(&s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_self_and_total),
	cmocka_unit_test(test_copies_in_a_run),
	cmocka_unit_test(test_named_as_a_group),
	cmocka_unit_test(test_common_names),
	cmocka_unit_test(test_by_comm),
	cmocka_unit_test(test_callers_and_callees),
	cmocka_unit_test(test_many_at_once),
	cmocka_unit_test(test_all_of_many),
	cmocka_unit_test(test_nothing_matches),
	cmocka_unit_test(test_interval),

	cmocka_unit_test(test_hosts),
};

UNIT_TESTS(tests);
