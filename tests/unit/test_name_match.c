/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/name_match.h"

#include "common/shortage.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void test_matches(void **state)
{
	regex_t regex;

	assert_int_equal(regcomp(&regex, "^a+b", REG_EXTENDED | REG_NOSUB), 0);
	assert_true(name_matches(&regex, "aabc"));
	assert_false(name_matches(&regex, "bab"));
	assert_int_equal(shortage_take(), 0);
	regfree(&regex);
}

/* Where case does not matter, names are copied. */
static void test_without_memory(void **state)
{
#ifdef __SANITIZE_ADDRESS__
	skip(); /* reserves addresses without end */
#else
	const size_t size = 16 << 20;
	char *name = malloc(size + 1);
	struct rlimit before, none;
	regex_t regex;
	bool matches;

	assert_non_null(name);
	memset(name, 'a', size);
	name[size] = 0;
	assert_int_equal(regcomp(&regex, "a*b", REG_EXTENDED | REG_NOSUB | REG_ICASE), 0);
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	matches = name_matches(&regex, name);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_false(matches);
	assert_int_equal(shortage_take(), ENOMEM);
	regfree(&regex);
	free(name);
#endif
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_matches),
	cmocka_unit_test(test_without_memory),
};
UNIT_TESTS(tests);
