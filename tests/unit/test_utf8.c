/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/output/utf8.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_text_stays),
		cmocka_unit_test(broken_bytes_are_replaced),
		cmocka_unit_test(overlong_surrogates_and_beyond_are_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
