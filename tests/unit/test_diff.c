/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <string.h>

#include "profile_fixture.h"
#include "report/views/diff.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

#define LEADING                                                                                    \
	{                                                                                          \
		PROFILE_BY_COMM                                                                    \
	}

static struct profile profile_of(const struct profile_entry *entries, size_t n)
{
	struct profile p = fixture;

	p.entries = entries;
	p.entry_count = n;
	return p;
}

static void expect(const struct profile *base, const struct profile *now, bool normalize,
		   const char *expected)
{
	struct view_options o = { .base = base, .normalize = normalize, .leading = LEADING };
	struct sink s;

	sink_init(&s, -1);
	assert_no_error(diff_render(now, &o, &s));
	assert_no_error(sink_flush(&s));
	assert_string_equal(buffer_string(&s.buffer), expected);
	sink_release(&s);
}

static const struct profile_entry before[] = {
	{ 1, 0, NODE_MAIN, 4, 4 },
	{ 1, 0, NODE_LEAF, 3, 3 },
	{ 1, 0, NODE_WRITE, 3, 3 },
};
static const struct profile_entry after[] = {
	{ 1, 0, NODE_LEAF, 2, 2 },
	{ 1, 0, NODE_KERNEL, 2, 2 },
	{ 1, 0, NODE_WRITE, 1, 1 },
};

static void both_columns_and_every_stack(void **state)
{
	struct profile base = profile_of(before, 3), now = profile_of(after, 3);

	expect(&base, &now, false,
	       "server;main 4 0\n"
	       "server;main;middle;leaf 3 2\n"
	       "server;main;write 3 1\n"
	       "server;main;write;ksys_write 0 2\n");
	/* Scaled, and rounded down. */
	expect(&base, &now, true,
	       "server;main 2 0\n"
	       "server;main;middle;leaf 1 2\n"
	       "server;main;write 1 1\n"
	       "server;main;write;ksys_write 0 2\n");
}

static void an_empty_side(void **state)
{
	struct profile empty = profile_of(before, 0), now = profile_of(after, 1);

	expect(&empty, &now, true, "server;main;middle;leaf 0 2\n");
	expect(&now, &empty, true, "server;main;middle;leaf 0 0\n");
	expect(&empty, &empty, false, "");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(both_columns_and_every_stack),
	cmocka_unit_test(an_empty_side),
};

UNIT_TESTS(tests);
