/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/trace/series.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/error_check.h"

static void sizes_times_and_signal(void **state)
{
	static const char *const wrong[] = { "10", "1ms", "1K", "soon", "", "s" };
	struct series s = { 0 };

	assert_null(series_parse(&s, "10M"));
	assert_int_equal(s.bytes, 10 << 20);
	assert_null(series_parse(&s, "1s"));
	assert_int_equal(s.ns, 1000000000);
	assert_null(series_parse(&s, "5m"));
	assert_true(s.ns == 300000000000);
	assert_null(series_parse(&s, "250ms"));
	assert_int_equal(s.ns, 250000000);
	assert_false(s.on_signal);
	assert_null(series_parse(&s, "signal"));
	assert_true(s.on_signal && series_wanted(&s));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_non_null(series_parse(&s, wrong[i]));
}

static void due_by_size_and_time(void **state)
{
	struct series s = { .bytes = 1000, .ns = 100 };

	assert_no_error(series_begin(&s, "a", 1000));
	assert_false(series_is_due(&s, 1099, 999));
	assert_true(series_is_due(&s, 1099, 1000));
	assert_true(series_is_due(&s, 1100, 0));
	/* A late switch keeps the raster. */
	assert_no_error(series_begin(&s, "b", 1130));
	assert_true(series_is_due(&s, 1200, 0));
	/* After a long stall it begins anew. */
	assert_no_error(series_begin(&s, "c", 5000));
	assert_false(series_is_due(&s, 5099, 0));
	assert_true(series_is_due(&s, 5100, 0));
	series_release(&s);
}

static void keeps_the_newest(void **state)
{
	char folder[] = "/tmp/prof-series.XXXXXX", base[64];
	struct series s = { .max_files = 2 };
	struct timespec when = { .tv_sec = 1700000000 };
	char *names[4];

	assert_non_null(mkdtemp(folder));
	snprintf(base, sizeof(base), "%s/t.prf", folder);
	s.base = strdup(base);
	for (int i = 0; i < 4; i++) {
		FILE *f;

		when.tv_nsec = 5000000 + i / 2 * 1000000;
		names[i] = series_name(&s, &when);
		assert_non_null(names[i]);
		assert_int_equal(strncmp(names[i], base, strlen(base)), 0);
		f = fopen(names[i], "wx"); /* the same moment twice: still a name of its own */
		assert_non_null(f);
		fclose(f);
		assert_no_error(series_begin(&s, names[i], 1));
		assert_int_equal(series_trim(&s, NULL, 0), i >= 2);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(access(names[i], F_OK), i < 2 ? -1 : 0);
		unlink(names[i]);
		free(names[i]);
	}
	series_release(&s);
	assert_int_equal(rmdir(folder), 0);
}

/* It may wait for its names while others, which are newer, are sealed without. */
static void leaves_those_that_are_not_sealed(void **state)
{
	struct output waiting[] = { { .sealed = "/no/1" }, { .sealed = "/no/4" } };
	struct series s = { .max_files = 1 };

	for (char name[] = "/no/0"; name[4] < '6'; name[4]++)
		assert_no_error(series_begin(&s, name, 1));
	assert_int_equal(series_trim(&s, waiting, 2), 3);
	assert_string_equal(s.names[0], "/no/1");
	assert_string_equal(s.names[1], "/no/4");
	assert_string_equal(s.names[2], "/no/5");
	/* Now it is the oldest one that is sealed. */
	assert_int_equal(series_trim(&s, waiting + 1, 1), 1);
	assert_string_equal(s.names[0], "/no/4");
	assert_int_equal(series_trim(&s, NULL, 0), 1);
	assert_string_equal(s.names[0], "/no/5");
	series_release(&s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(sizes_times_and_signal),
	cmocka_unit_test(due_by_size_and_time),
	cmocka_unit_test(keeps_the_newest),
	cmocka_unit_test(leaves_those_that_are_not_sealed),
};

UNIT_TESTS(tests);
