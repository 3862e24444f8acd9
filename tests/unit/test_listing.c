/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/annotate/listing.h"
#include "tests/unit/unit.h"

#include <limits.h>
#include <string.h>

static void test_widen(void **state)
{
	uint8_t rows[12] = { 0 };
	static const uint8_t expected[12] = { 2, 1, 1, 1, 0, 1, 1, 1, 2, 2, 1, 1 };

	rows[0] = rows[8] = rows[9] = LISTING_ROW_WANTED;
	listing_widen(rows, 12);
	assert_memory_equal(rows, expected, sizeof(rows));
	listing_widen(rows, 0);
}

static void test_indent(void **state)
{
	assert_int_equal(listing_indent("x", 1), 0);
	assert_int_equal(listing_indent("\tx", 2), 4);
	assert_int_equal(listing_indent("  \tx", 4), 4);
	assert_int_equal(listing_indent(" \t", 2), UINT_MAX);
	assert_int_equal(listing_indent("", 0), UINT_MAX);
}

struct printed {
	struct view_options options;
	struct profile profile;
	struct sink sink;
	struct listing listing;
};

static void begin(struct printed *p, unsigned int width)
{
	memset(p, 0, sizeof(*p));
	sink_init(&p->sink, -1);
	p->options.width = width;
	p->profile.total = 200;
	p->profile.min_percent = -1;
	p->listing = (struct listing){ &p->profile, &p->options, &p->sink };
}

static void is(struct printed *p, const char *expected)
{
	assert_string_equal(buffer_string(&p->sink.buffer), expected);
	sink_release(&p->sink);
}

static void is_text(const char *text, size_t size, unsigned int indent, const char *expected)
{
	struct printed p;

	begin(&p, 60);
	listing_text(&p.listing, &(struct listing_text){ text, size, indent }, 35);
	is(&p, expected);
}

static void test_text(void **state)
{
	is_text("\t\tx\ty", 5, 4, "    x   y");
	is_text("ab", 2, 0, "ab");
	is_text("a\0b\x1b", 4, 0, "a?b?");
	is_text("123456789 123456789 123456789", 29, 0, "123456789 123456789 1234…");
}

static void test_say(void **state)
{
	struct printed p;

	begin(&p, 30);
	listing_say(&p.listing, "%s words that need %d lines", "some", 2);
	is(&p, "# some words that need 2 lines\n");
	begin(&p, 29);
	listing_say(&p.listing, "%s words that need %d lines", "some", 2);
	is(&p, "# some words that need 2\n#   lines\n");
	begin(&p, 0);
	listing_say(&p.listing, "never\nmore");
	is(&p, "# never?more\n");
}

static void test_count(void **state)
{
	const struct hit_count count = { 3, 100, 3, 100 }, none = { 0 };
	struct printed p;

	begin(&p, 0);
	listing_count(&p.listing, &count);
	is(&p, "  1.50       3    50.00     100");
	assert_int_equal(listing_columns(&p.listing), 31);
	begin(&p, 80);
	listing_count(&p.listing, &count);
	is(&p, "  1.50       3    50.00");
	assert_int_equal(listing_columns(&p.listing), 23);
	assert_true(listing_wants(&p.listing, &count));
	assert_false(listing_wants(&p.listing, &none));
	assert_false(listing_wants(&p.listing, NULL));
	p.profile.min_percent = 50.1;
	assert_false(listing_wants(&p.listing, &count));
	p.profile.min_percent = 0;
	assert_true(listing_wants(&p.listing, NULL));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_widen), cmocka_unit_test(test_indent), cmocka_unit_test(test_text),
	cmocka_unit_test(test_say),   cmocka_unit_test(test_count),
};

UNIT_TESTS(tests);
