/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/nearest.h"
#include "tests/unit/unit.h"

#include <stdint.h>
#include <string.h>

static void distances(void **state)
{
	assert_int_equal(nearest_distance("", ""), 0);
	assert_int_equal(nearest_distance("kitten", "sitting"), 3);
	assert_int_equal(nearest_distance("ab", "ba"), 1);
	assert_int_equal(nearest_distance("", "abc"), 3);
}

static void long_words_are_far(void **state)
{
	char word[80];

	memset(word, 'a', 79);
	word[79] = 0;
	assert_true(nearest_distance(word, word) == SIZE_MAX);
}

static void words(void **state)
{
	const char *const names[] = { "cpu-clock", "task-clock", "page-faults" };

	assert_string_equal(nearest_word("cpu-clok", names, 3), "cpu-clock");
	assert_string_equal(nearest_word("pagefaults", names, 3), "page-faults");
	assert_null(nearest_word("zzz", names, 3));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(distances),
	cmocka_unit_test(long_words_are_far),
	cmocka_unit_test(words),
};

UNIT_TESTS(tests);
