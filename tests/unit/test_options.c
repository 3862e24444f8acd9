/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/options.h"
#include "tests/unit/unit.h"

#include <stdint.h>
#include <string.h>

struct settings {
	const char *file;
	const char *minimum;
	int quiet, verbose;
	bool minimum_given, pinned, cached;
	const char *title;
};

static const char *take_file(void *context, const char *argument)
{
	struct settings *s = context;

	s->file = argument;
	if (!strcmp(argument, "endless"))
		return option_no_memory;
	return strcmp(argument, "bad") ? NULL : "it is bad";
}

static const char *take_minimum(void *context, const char *argument)
{
	struct settings *s = context;

	s->minimum = argument;
	s->minimum_given = true;
	return NULL;
}

static const char *take_quiet(void *context, const char *argument)
{
	((struct settings *)context)->quiet++;
	return NULL;
}

static const char *take_verbose(void *context, const char *argument)
{
	((struct settings *)context)->verbose++;
	return NULL;
}

static const struct option_entry table[] = {
	{ .help = "Options" },
	{ 'o', "output", "FILE", "write to FILE", take_file },
	{ 0, "off-cpu", "[=MIN]", "waits too", take_minimum },
	{ 'q', "quiet", NULL, "less", take_quiet },
	{ 'v', "verbose", NULL, "more", take_verbose },
	{ 0, "pin", NULL, "sets a field", OPTION_SETS(struct settings, pinned) },
	{ 0, "no-cache", NULL, "clears a field", OPTION_CLEARS(struct settings, cached) },
	{ 0, "title", "TEXT", "keeps the argument", OPTION_KEEPS(struct settings, title) },
	{ .help = NULL },
};

static char *rest[16];
static int rest_count;
static char **command;

static enum options_result parse_as(struct settings *s, bool command_follows,
				    const char *const *words)
{
	struct options o = { "prof-test", "[OPTIONS]", "Tests", table, s, command_follows };
	static char copies[16][64];
	static char *argv[17] = { (char *)"prof-test" }; /* `command` points into it */
	int argc = 1;

	for (; words[argc - 1]; argc++) {
		strcpy(copies[argc], words[argc - 1]);
		argv[argc] = copies[argc];
	}
	argv[argc] = NULL;
	*s = (struct settings){ .cached = true };
	return options_parse(&o, argc, argv, rest, &rest_count, &command);
}

#define PARSE(s, ...) parse_as(s, false, (const char *const[]){ __VA_ARGS__, NULL })

static void fields_without_a_function(void **state)
{
	struct settings s;

	assert_int_equal(PARSE(&s, "-q"), OPTIONS_OK);
	assert_false(s.pinned);
	assert_true(s.cached);
	assert_null(s.title);
	assert_int_equal(PARSE(&s, "--pin", "--no-cache", "--title=a b", "-q"), OPTIONS_OK);
	assert_true(s.pinned);
	assert_false(s.cached);
	assert_string_equal(s.title, "a b");
	assert_int_equal(s.quiet, 1);
	assert_int_equal(s.verbose, 0);
}

static void letters_join(void **state)
{
	struct settings s;

	assert_int_equal(PARSE(&s, "-qvofile"), OPTIONS_OK);
	assert_int_equal(s.quiet, 1);
	assert_int_equal(s.verbose, 1);
	assert_string_equal(s.file, "file");
	assert_int_equal(PARSE(&s, "-o", "file"), OPTIONS_OK);
	assert_string_equal(s.file, "file");
}

static void long_names(void **state)
{
	struct settings s;

	assert_int_equal(PARSE(&s, "--output=a", "--verb"), OPTIONS_OK);
	assert_string_equal(s.file, "a");
	assert_int_equal(s.verbose, 1);
	assert_int_equal(PARSE(&s, "--output", "b"), OPTIONS_OK);
	assert_string_equal(s.file, "b");
	assert_int_equal(PARSE(&s, "--off-cpu", "x"), OPTIONS_OK);
	assert_true(s.minimum_given);
	assert_null(s.minimum);
	assert_int_equal(rest_count, 1);
	assert_int_equal(PARSE(&s, "--off-cpu=5ms"), OPTIONS_OK);
	assert_string_equal(s.minimum, "5ms");
}

static void rest_and_command(void **state)
{
	struct settings s;

	assert_int_equal(PARSE(&s, "a", "-q", "-", "--", "cmd", "-v"), OPTIONS_OK);
	assert_int_equal(rest_count, 2);
	assert_string_equal(rest[0], "a");
	assert_string_equal(rest[1], "-");
	assert_string_equal(command[0], "cmd");
	assert_string_equal(command[1], "-v");
	assert_int_equal(s.verbose, 0);
	assert_int_equal(PARSE(&s, "--"), OPTIONS_OK);
	assert_null(command);
}

static void command_without_dashes(void **state)
{
	const char *const words[] = { "-q", "cmd", "-v", "--", "x", NULL };
	struct settings s;

	assert_int_equal(parse_as(&s, true, words), OPTIONS_OK);
	assert_int_equal(rest_count, 0);
	assert_string_equal(command[0], "cmd");
	assert_string_equal(command[2], "--");
	assert_int_equal(s.quiet, 1);
	assert_int_equal(s.verbose, 0);
}

static void what_is_wrong(void **state)
{
	struct settings s;

	assert_int_equal(PARSE(&s, "--nothing"), OPTIONS_WRONG);
	assert_int_equal(PARSE(&s, "-X"), OPTIONS_WRONG);
	assert_int_equal(PARSE(&s, "-o"), OPTIONS_WRONG);
	assert_int_equal(PARSE(&s, "--output"), OPTIONS_WRONG);
	assert_int_equal(PARSE(&s, "--quiet=1"), OPTIONS_WRONG);
	assert_int_equal(PARSE(&s, "--o"), OPTIONS_WRONG); /* --output or --off-cpu */
	assert_int_equal(PARSE(&s, "-obad"), OPTIONS_WRONG);
	assert_int_equal(PARSE(&s, "-oendless"), OPTIONS_FAILED); /* nothing is wrong with it */
}

static void numbers(void **state)
{
	unsigned long long v;

	assert_true(option_number("99", 1, 100, &v));
	assert_int_equal(v, 99);
	assert_false(option_number("0", 1, 100, &v));
	assert_false(option_number("101", 1, 100, &v));
	assert_false(option_number("9x", 1, 100, &v));
	assert_false(option_number("-1", 0, ~0ULL, &v));
	assert_false(option_number("18446744073709551616", 0, ~0ULL, &v));
}

static void sizes(void **state)
{
	unsigned long long v;

	assert_true(option_size("64K", &v));
	assert_int_equal(v, 65536);
	assert_true(option_size("1m", &v));
	assert_int_equal(v, 1048576);
	assert_true(option_size("2GiB", &v));
	assert_int_equal(v, 2147483648ULL);
	assert_false(option_size("1X", &v));
	assert_false(option_size("K", &v));
	assert_false(option_size("99999999999999T", &v));
}

static void durations(void **state)
{
	unsigned long long v;

	assert_true(option_duration("10", 1000000000, &v));
	assert_int_equal(v, 10000000000ULL);
	assert_true(option_duration("1.5s", 1, &v));
	assert_int_equal(v, 1500000000);
	assert_true(option_duration("100ms", 1, &v));
	assert_int_equal(v, 100000000);
	assert_false(option_duration("1 s", 1, &v));
	assert_false(option_duration("-1", 1, &v));
	assert_false(option_duration("1e300", 1, &v));
	assert_false(option_duration("nan", 1, &v));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(fields_without_a_function),
	cmocka_unit_test(letters_join),
	cmocka_unit_test(long_names),
	cmocka_unit_test(rest_and_command),
	cmocka_unit_test(command_without_dashes),
	cmocka_unit_test(what_is_wrong),
	cmocka_unit_test(numbers),
	cmocka_unit_test(sizes),
	cmocka_unit_test(durations),
};

UNIT_TESTS(tests);
