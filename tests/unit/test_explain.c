/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/pairs/explain.h"
#include "tests/unit/unit.h"

#define ROUNDS 10

static char path[] = "/tmp/test_explain.XXXXXX";

static void add(struct folded_functions *f, const char *text, int side, size_t round)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_null(folded_functions_add(f, path, side, round));
}

/* One function became slower, one is new, one varies, one is as before. */
static void test_compare(void **state)
{
	struct folded_functions *f = folded_functions_new(ROUNDS);
	struct explanation e = { 0 };

	assert_non_null(f);
	for (size_t i = 0; i < ROUNDS; i++) {
		char text[256];

		snprintf(text, sizeof(text), "main;work 50\nmain;work;same 20\nmain;varies %zu\n",
			 10 + i % 5);
		add(f, text, 0, i);
		snprintf(text, sizeof(text),
			 "main;work %zu\nmain;other;work 5\nmain;work;same 20\nmain;varies "
			 "%zu\nnew 3\n",
			 60 + i % 3, 10 + (i + 2) % 5);
		add(f, text, 1, i);
	}
	assert_null(folded_functions_compare(f, 1000, 1, &e));
	assert_int_equal(e.count, 4);
	/* The largest change first; of all its callers together. */
	assert_string_equal(e.all[0].name, "work");
	assert_true(e.all[0].ns[0] == 50000);
	assert_true(e.all[0].difference.value > 15800 && e.all[0].difference.value < 16000);
	assert_true(e.all[0].difference.low > 15000 && e.all[0].difference.high < 17000);
	assert_string_equal(e.all[1].name, "new");
	assert_true(e.all[1].ns[0] == 0 && e.all[1].difference.low == 3000);
	assert_true(e.all[0].sure && e.all[1].sure && !e.all[2].sure && !e.all[3].sure);
	for (size_t i = 2; i < 4; i++)
		assert_true(e.all[i].difference.low <= 0 && e.all[i].difference.high >= 0);
	assert_true(e.ns[0] > 80000 && e.ns[0] < 84000);
	explanation_release(&e);
	folded_functions_free(f);
}

/* A line without a number is not a stack; a file may have no lines at all. */
static void test_odd_files(void **state)
{
	struct folded_functions *f = folded_functions_new(1);
	struct explanation e = { 0 };
	struct error *error;

	add(f, "", 0, 0);
	add(f, "word\n\n;; 4\noperator new 2\n", 1, 0);
	assert_null(folded_functions_compare(f, 1, 1, &e));
	assert_int_equal(e.count, 2);
	assert_string_equal(e.all[0].name, "");
	assert_string_equal(e.all[1].name, "operator new");
	explanation_release(&e);
	error = folded_functions_add(f, "/nonexistent/folded", 0, 0);
	assert_true(error_ignore(error));
	folded_functions_free(f);
}

static int setup(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	return unlink(path);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_compare),
	cmocka_unit_test(test_odd_files),
};

UNIT_TESTS(tests, .setup = setup, .teardown = teardown);
