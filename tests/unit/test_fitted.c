/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/output/fitted.h"
#include "tests/unit/unit.h"

static void is_text(const char *text, unsigned int room, const char *expected)
{
	struct sink s;

	sink_init(&s, -1);
	fitted_text(&s, text, room);
	assert_string_equal(buffer_string(&s.buffer), expected);
	sink_release(&s);
}

static void is_name(const char *name, const char *object, unsigned int room, const char *expected)
{
	struct sink s;

	sink_init(&s, -1);
	fitted_name(&s, name, object, room);
	assert_string_equal(buffer_string(&s.buffer), expected);
	sink_release(&s);
}

static void test_text(void **state)
{
	is_text("", 5, "");
	is_text("short", 5, "short");
	is_text("longer", 5, "lo…er");
	is_text("longer", 4, "l…er");
	is_text("longer", 1, "…");
	is_text("longer", 0, "longer");
	/* Characters are counted, not bytes, and none is cut apart. */
	is_text("ääääöööö", 5, "ää…öö");
	is_text("a\x1b"
		"b",
		3, "a?b");
}

static void test_name(void **state)
{
	is_name("main", "server", 12, "main  server");
	is_name("main", "server", 11, "main");
	is_name("main", "server", 0, "main  server");
	is_name("main", "", 20, "main");
	is_name("[server]", "server", 0, "[server]");
	is_name("clang::Sema::Act", "clang", 9, "clan…:Act");
}

static void test_right(void **state)
{
	static const char *const texts[] = { "ns", "samples", "page-faults", "ä\x1b[mx", "" };
	static const char *const expected[] = { "     ns", "samples", "page-fa", "  ä?[mx",
						"       " };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct sink s;

		sink_init(&s, -1);
		fitted_right(&s, texts[i], 7);
		assert_string_equal(buffer_string(&s.buffer), expected[i]);
		sink_release(&s);
	}
}

static void test_room(void **state)
{
	assert_int_equal(fitted_room(0, 50), 0);
	assert_int_equal(fitted_room(80, 50), 30);
	assert_int_equal(fitted_room(60, 50), FITTED_LEAST);
	assert_int_equal(fitted_room(10, 50), FITTED_LEAST);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_text),
	cmocka_unit_test(test_name),
	cmocka_unit_test(test_right),
	cmocka_unit_test(test_room),
};

UNIT_TESTS(tests);
