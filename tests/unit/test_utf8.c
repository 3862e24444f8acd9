/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "common/utf8.h"
#include "tests/unit/unit.h"

static void expect(const char *text, const char *valid)
{
	struct buffer b = { 0 };

	utf8_append(&b, text);
	assert_string_equal(buffer_string(&b), valid);
	buffer_release(&b);
}

#define BAD "\xef\xbf\xbd"

static void valid_text_stays(void **state)
{
	expect("", "");
	expect("plain", "plain");
	expect("\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\xa5\n", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\xa5\n");
	expect("\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf");
}

static void broken_bytes_are_replaced(void **state)
{
	expect("\xff", BAD);
	expect("a\x80z", "a" BAD "z");
	expect("\xc3", BAD);
	expect("\xe2\x82", BAD BAD);
	expect("\xe2\x82z", BAD BAD "z");
}

static void overlong_surrogates_and_beyond_are_no_text(void **state)
{
	expect("\xc0\x80", BAD BAD);
	expect("\xe0\x80\x80", BAD BAD BAD);
	expect("\xed\xa0\x80", BAD BAD BAD);
	expect("\xf0\x80\x80\x80", BAD BAD BAD BAD);
	expect("\xf4\x90\x80\x80", BAD BAD BAD BAD);
	expect("\xf5\x80\x80\x80", BAD BAD BAD BAD);
}

/* What may be shown of a text, and how long the character after it is. */
static void expect_visible(const char *text, size_t visible, unsigned int skip)
{
	assert_int_equal(utf8_visible(text), visible);
	assert_int_equal(utf8_skip(text + visible), skip);
}

static void what_steers_terminals_is_not_shown(void **state)
{
	expect_visible("", 0, 0);
	expect_visible("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x94\xa5", 14, 0);
	expect_visible("a\nb", 1, 1);
	expect_visible("a\x1b[31m", 1, 1);
	expect_visible("\x7f", 0, 1);
	expect_visible("ab\xff", 2, 1);
	expect_visible("\xe2\x80", 0, 1);
	/* U+0080 and U+009F are controls, U+00A0 is not. */
	expect_visible("\xc2\x80", 0, 2);
	expect_visible("\xc2\x9f", 0, 2);
	expect_visible("\xc2\xa0", 2, 0);
}

static void what_changes_the_direction_is_not_shown(void **state)
{
	static const unsigned int hidden[] = { 0x200e, 0x200f, 0x2028, 0x2029, 0x202a,
					       0x202b, 0x202c, 0x202d, 0x202e, 0x2066,
					       0x2067, 0x2068, 0x2069 };

	expect_visible("\xd8\x9c", 0, 2); /* U+061C */
	for (unsigned int code = 0x2000, i = 0; code < 0x2080; code++) {
		const char text[] = { (char)0xe2, (char)(0x80 | (code >> 6 & 0x3f)),
				      (char)(0x80 | (code & 0x3f)), 0 };
		bool listed = i < sizeof(hidden) / sizeof(*hidden) && hidden[i] == code;

		assert_int_equal(utf8_visible(text), listed ? 0 : 3);
		i += listed;
	}
}

static void the_rest_is_escaped(void **state)
{
	struct buffer b = { 0 };

	utf8_escape(&b, "caf\xc3\xa9\x1b[31m\xc2\x9b\xe2\x80\xae\xff!");
	assert_string_equal(buffer_string(&b),
			    "caf\xc3\xa9\\x1b[31m\\xc2\\x9b\\xe2\\x80\\xae\\xff!");
	buffer_release(&b);
}

static void expect_character(uint32_t character, const char *expected)
{
	struct buffer b = { 0 };

	utf8_append_character(&b, character);
	assert_string_equal(buffer_string(&b), expected);
	buffer_release(&b);
}

static void characters_are_written(void **state)
{
	expect_character('a', "a");
	expect_character(0xe9, "\xc3\xa9");
	expect_character(0x20ac, "\xe2\x82\xac");
	expect_character(0x1f600, "\xf0\x9f\x98\x80");
	expect_character(0, "\xef\xbf\xbd");
	expect_character(0xd800, "\xef\xbf\xbd");
	expect_character(0x110000, "\xef\xbf\xbd");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(valid_text_stays),
	cmocka_unit_test(broken_bytes_are_replaced),
	cmocka_unit_test(overlong_surrogates_and_beyond_are_no_text),
	cmocka_unit_test(what_steers_terminals_is_not_shown),
	cmocka_unit_test(what_changes_the_direction_is_not_shown),
	cmocka_unit_test(the_rest_is_escaped),
	cmocka_unit_test(characters_are_written),
};

UNIT_TESTS(tests);
