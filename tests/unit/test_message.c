/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/message.h"
#include "tests/unit/unit.h"

static int own, reader; /* standard error as it was; the pipe that it is meanwhile */

static int begin(void **state)
{
	int ends[2];

	own = dup(STDERR_FILENO);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_not_equal(dup2(ends[1], STDERR_FILENO), -1);
	close(ends[1]);
	reader = ends[0];
	assert_int_not_equal(fcntl(reader, F_SETPIPE_SZ, 8192), -1);
	assert_int_equal(fcntl(reader, F_SETFL, O_NONBLOCK), 0);
	message_setup("test", MESSAGE_INFO);
	return 0;
}

static int end(void **state)
{
	dup2(own, STDERR_FILENO);
	close(own);
	close(reader);
	return 0;
}

static const char *read_all(char text[16384])
{
	ssize_t n = read(reader, text, 16383);

	text[n < 0 ? 0 : n] = 0;
	return text;
}

static void test_line(void **state)
{
	char text[16384];

	message_detail("not shown");
	message_warning("%s \xc2\x9b", "name");
	assert_string_equal(read_all(text), "test: warning: name \\xc2\\x9b\n");
}

/* Nobody reads: it goes on, and whoever reads again learns how much is missing. */
static void test_no_reader(void **state)
{
	char text[16384], *lost, line[1001] = "";

	message_patience(100);
	memset(line, 'x', 1000);
	for (int i = 0; i < 100; i++)
		message_info("%s", line);
	assert_true(strlen(read_all(text)) <= 8192);
	message_info("more");
	lost = strstr(read_all(text), " messages had no reader\ntest: more\n");
	assert_non_null(lost);
	assert_true(atoi(text + strlen("test: ")) > 90);
	message_info("and more");
	assert_string_equal(read_all(text), "test: and more\n");
}

static void test_long_line(void **state)
{
	static char line[100001];
	char text[16384];

	message_patience(100);
	memset(line, 'x', sizeof(line) - 1);
	message_info("%s", line);
	assert_in_range(strlen(read_all(text)), 4096, 8192);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_line, begin, end),
	cmocka_unit_test_setup_teardown(test_no_reader, begin, end),
	cmocka_unit_test_setup_teardown(test_long_line, begin, end),
};

UNIT_TESTS(tests);
