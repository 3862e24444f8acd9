/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "tests/unit/unit.h"

static void test_pieces_stay(void **state)
{
	struct arena a = { 0 };
	unsigned char *pieces[500];
	const char *text;

	assert_non_null(arena_take(&a, 0));
	text = arena_text(&a, "hello, world", 5);

	for (size_t i = 0; i < 500; i++) {
		size_t size = i % 50 == 49 ? 100000 : i * 3 + 1;

		pieces[i] = arena_take(&a, size);
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % 8, 0);
		memset(pieces[i], (int)i, size);
		assert_string_equal(arena_text(&a, "odd", 3), "odd");
	}
	for (size_t i = 0; i < 500; i++)
		assert_int_equal(pieces[i][i % 50 == 49 ? 99999 : i * 3], (unsigned char)i);
	assert_string_equal(text, "hello");
	assert_string_equal(arena_text(&a, "", 0), "");
	arena_release(&a);
	assert_null(a.chunks);
	assert_null(arena_take(&a, SIZE_MAX));
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(test_pieces_stay) };

UNIT_TESTS(tests);
