/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/growing_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void grows_and_starts_anew(void **state)
{
	char path[] = "/tmp/prof-growing.XXXXXX";
	int writer = mkstemp(path);
	struct growing_file f;

	assert_true(writer >= 0);
	growing_file_init(&f, dup(writer));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(growing_file_read(&f, 100), 0);
	assert_int_equal(write(writer, "abcdef", 6), 6);
	assert_int_equal(growing_file_read(&f, 4), 4);
	assert_memory_equal(f.pending.data, "abcd", 4);
	growing_file_consume(&f, 3);
	assert_int_equal(growing_file_read(&f, 100), 2);
	assert_int_equal(f.pending.size, 3);
	assert_memory_equal(f.pending.data, "def", 3);
	assert_int_equal(growing_file_read(&f, 100), 0);
	assert_int_equal(ftruncate(writer, 0), 0);
	assert_int_equal(growing_file_read(&f, 100), -ESTALE);
	assert_int_equal(f.pending.size, 0);
	assert_int_equal(pwrite(writer, "xy", 2, 0), 2);
	assert_int_equal(growing_file_read(&f, 100), 2);
	assert_memory_equal(f.pending.data, "xy", 2);
	growing_file_release(&f);
	close(writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(grows_and_starts_anew) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
