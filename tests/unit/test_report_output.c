/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/output/output.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[128];

static int make_folder(void **state)
{
	strcpy(folder, "/tmp/prof-output.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/out", folder);
	return 0;
}

static int remove_folder(void **state)
{
	unlink(path);
	return rmdir(folder);
}

static int files(void)
{
	DIR *d = opendir(folder);
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2; /* . and .. */
}

static void expect(const char *text)
{
	char data[32] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_non_null(fgets(data, sizeof(data), f));
	assert_string_equal(data, text);
	fclose(f);
}

static void write_report(const char *text, bool keep)
{
	bool there = !access(path, F_OK);
	struct report_output o;

	assert_no_error(report_output_open(&o, path));
	assert_int_equal(!access(path, F_OK), there);
	assert_int_equal(write(o.fd, text, strlen(text)), strlen(text));
	assert_no_error(report_output_close(&o, keep));
	assert_int_equal(files(), 1);
}

/* The file has its name only once it is whole. */
static void test_appears_at_the_end(void **state)
{
	write_report("new", true);
	expect("new");
}

static void test_nothing_remains_of_a_failure(void **state)
{
	write_report("broken", false);
	/* What was there before still is. */
	expect("new");
}

static void test_devices_are_written_directly(void **state)
{
	struct report_output o;

	assert_no_error(report_output_open(&o, "/dev/null"));
	assert_null(o.temporary);
	assert_no_error(report_output_close(&o, true));
	assert_int_equal(access("/dev/null", F_OK), 0);
}

static void test_standard_output(void **state)
{
	struct report_output o;

	assert_no_error(report_output_open(&o, NULL));
	assert_int_equal(o.fd, STDOUT_FILENO);
	assert_no_error(report_output_close(&o, true));
	assert_no_error(report_output_open(&o, "-"));
	assert_int_equal(o.fd, STDOUT_FILENO);
	assert_no_error(report_output_close(&o, true));
}

static void test_no_such_folder(void **state)
{
	struct report_output o;

	assert_error(report_output_open(&o, "/nonexistent/out"), ERROR_SYSTEM,
		     "cannot be written: No such file or directory");
}

/* The reason is that of the name, not that of what was tried afterwards. */
static void test_name_is_taken_meanwhile(void **state)
{
	struct report_output o;

	unlink(path);
	assert_no_error(report_output_open(&o, path));
	assert_int_equal(mkdir(path, 0700), 0);
	errno = EIO;
	assert_error(report_output_close(&o, true), ERROR_SYSTEM,
		     "cannot be written: Is a directory");
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(files(), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_appears_at_the_end),
	cmocka_unit_test(test_nothing_remains_of_a_failure),
	cmocka_unit_test(test_devices_are_written_directly),
	cmocka_unit_test(test_standard_output),
	cmocka_unit_test(test_no_such_folder),
	cmocka_unit_test(test_name_is_taken_meanwhile),
};

UNIT_TESTS(tests, .setup = make_folder, .teardown = remove_folder);
