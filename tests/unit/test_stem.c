/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "report/difference/stem.h"
#include "tests/unit/unit.h"

static void test_arguments(void **state)
{
	assert_true(stems_agree("sort<int>(int*)", "sort<long>(long*)", true));
	assert_false(stems_agree("sort<int>(int*)", "sort<long>(long*)", false));
	assert_false(stems_agree("sort<int>(int*)", "merge<int>(int*)", true));
	assert_true(stems_agree("f(int) [guessed]", "f(long) [guessed]", true));
	assert_false(stems_agree("f(int) [guessed]", "f(int)", true));
}

static void test_versions(void **state)
{
	assert_true(stems_agree("memcpy@GLIBC_2.2.5", "memcpy@@GLIBC_2.14", false));
	assert_true(stems_agree("memcpy", "memcpy@@GLIBC_2.14", false));
	assert_false(stems_agree("class@anonymous::parse", "class@anonymous::render", false));
	assert_false(stems_agree("@app.js:10", "@other.js:99", false));
	assert_false(stems_agree("run@app.js:10", "run@other.js:10", false));
}

/* `depth` brackets in each other, and an end. */
static char *nested(size_t depth, const char *open, const char *close, const char *end)
{
	size_t n = depth * (strlen(open) + strlen(close)) + strlen(end) + 2;
	char *name = malloc(n), *at = name;

	assert_non_null(name);
	*at++ = '.';
	for (size_t i = 0; i < depth; i++)
		at = stpcpy(at, open);
	for (size_t i = 0; i < depth; i++)
		at = stpcpy(at, close);
	stpcpy(at, end);
	return name;
}

static void test_hostile_names(void **state)
{
	static const char *const brackets[][2] = { { "<", ">" },  { "a<", "" }, { "a<", ">" },
						   { "(", ")" },  { "{", "}" }, { "", ">" },
						   { "[<", ">]" } };
	static const size_t depths[] = { 100, 1300, 250000 };

	for (size_t i = 0; i < sizeof(brackets) / sizeof(*brackets); i++)
		for (size_t k = 0; k < sizeof(depths) / sizeof(*depths); k++) {
			char *was = nested(depths[k], brackets[i][0], brackets[i][1], "::<a");
			char *is = nested(depths[k], brackets[i][0], brackets[i][1], "::<ab");

			assert_true(stems_agree(was, was, true));
			stems_agree(was, is, true);
			free(was);
			free(is);
		}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_arguments),
	cmocka_unit_test(test_versions),
	cmocka_unit_test(test_hostile_names),
};

UNIT_TESTS(tests);
