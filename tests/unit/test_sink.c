/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/output/sink.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

static void expect(struct sink *s, const char *text)
{
	assert_no_error(sink_flush(s));
	assert_string_equal(buffer_string(&s->buffer), text);
	sink_release(s);
	sink_init(s, -1);
}

static void test_numbers(void **state)
{
	struct sink s;

	sink_init(&s, -1);
	sink_unsigned(&s, 0);
	sink_char(&s, ' ');
	sink_unsigned(&s, UINT64_MAX);
	sink_printf(&s, " %d", -3);
	expect(&s, "0 18446744073709551615 -3");
}

/* Around every power of ten, into an empty buffer and into one that has room. */
static void test_lengths_of_numbers(void **state)
{
	char expected[48];
	uint64_t power = 1;
	struct sink s;

	sink_init(&s, -1);
	for (int digits = 1; digits <= 20; digits++, power *= 10) {
		for (int off = -1; off <= 1; off++) {
			uint64_t value = power + (uint64_t)off;

			sink_unsigned(&s, value);
			sink_unsigned(&s, value);
			snprintf(expected, sizeof(expected), "%" PRIu64 "%" PRIu64, value, value);
			expect(&s, expected);
		}
	}
	sink_release(&s);
}

struct written {
	const char *text, *expected;
};

static void expect_all(void (*write)(struct sink *, const char *), const struct written *all,
		       size_t n)
{
	struct sink s;

	sink_init(&s, -1);
	for (size_t i = 0; i < n; i++) {
		write(&s, all[i].text);
		expect(&s, all[i].expected);
	}
}

static void test_json(void **state)
{
	static const struct written all[] = {
		{ "a\"b\\c\nd\x1b\x7f", "\"a\\\"b\\\\c\\u000ad\\u001b\\u007f\"" },
		{ "\xc3\xa9\xe2\x82\xac", "\"\xc3\xa9\xe2\x82\xac\"" },
		/* No UTF-8: a lone byte, an overlong form, a surrogate, and one that is cut off. */
		{ "\xff|\xc0\xaf|\xed\xa0\x80|\xe2\x82",
		  "\"\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|"
		  "\xef\xbf\xbd\xef\xbf\xbd\"" },
		/* A control character of terminals in two bytes. */
		{ "\xc2\x9b", "\"\\u009b\"" },
		/* Marks of direction and separators of lines; the last one is no such mark. */
		{ "\xe2\x80\xae\xd8\x9c\xe2\x80\xa8\xe2\x80\x8d",
		  "\"\\u202e\\u061c\\u2028\xe2\x80\x8d\"" },
	};

	expect_all(sink_json_string, all, sizeof(all) / sizeof(*all));
}

static void test_printable(void **state)
{
	static const struct written all[] = {
		{ "a\nb\x1b[31m\xff\xc2\x9bz\xc3\xa9", "a?b?[31m??z\xc3\xa9" },
		{ "a\xe2\x80\xae|\xe2\x81\xa6|\xe2\x80\xa6z", "a?|?|\xe2\x80\xa6z" },
	};

	expect_all(sink_printable, all, sizeof(all) / sizeof(*all));
}

static void test_writes_everything(void **state)
{
	char read_back[64];
	struct sink s;
	size_t total = 0;
	int ends[2];
	ssize_t n;

	assert_int_equal(pipe(ends), 0);
	sink_init(&s, ends[1]);
	sink_text(&s, "hello ");
	sink_printf(&s, "%s", "world");
	assert_no_error(sink_flush(&s));
	close(ends[1]);
	while ((n = read(ends[0], read_back + total, sizeof(read_back) - total)) > 0)
		total += (size_t)n;
	assert_int_equal(total, 11);
	assert_memory_equal(read_back, "hello world", 11);
	close(ends[0]);
	sink_release(&s);
}

static void test_remembers_the_first_error(void **state)
{
	struct sink s;

	sink_init(&s, 1 << 20); /* no such descriptor */
	for (int i = 0; i < 1 << 18; i++)
		sink_bytes(&s, "0123456789abcdef", 16);
	assert_error(sink_flush(&s), ERROR_SYSTEM, "cannot be written: Bad file descriptor");
	/* What follows takes no memory. */
	assert_true(s.buffer.size < 1 << 21);
	sink_release(&s);
}

static void test_lacks_a_part(void **state)
{
	struct buffer part = { 0 };
	struct sink s;

	sink_init(&s, -1);
	sink_lacks(&s, &part);
	assert_no_error(sink_flush(&s));
	part.failed = true;
	sink_lacks(&s, &part);
	assert_error(sink_flush(&s), ERROR_MEMORY, "out of memory");
	sink_release(&s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_numbers),
	cmocka_unit_test(test_lengths_of_numbers),
	cmocka_unit_test(test_json),
	cmocka_unit_test(test_printable),
	cmocka_unit_test(test_writes_everything),
	cmocka_unit_test(test_remembers_the_first_error),
	cmocka_unit_test(test_lacks_a_part),
};

UNIT_TESTS(tests);
