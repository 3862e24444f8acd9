/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/growing_file.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An empty file; returns who may write into it. */
static int begin(struct growing_file *f)
{
	char path[] = "/tmp/prof-growing.XXXXXX";
	int writer = mkstemp(path);

	assert_true(writer >= 0);
	growing_file_init(f, dup(writer));
	assert_int_equal(unlink(path), 0);
	return writer;
}

static void grows_and_starts_anew(void **state)
{
	struct growing_file f;
	int writer = begin(&f);

	assert_int_equal(growing_file_read(&f, 100), GROWING_FILE_SAME);
	assert_int_equal(write(writer, "abcdef", 6), 6);
	assert_int_equal(growing_file_read(&f, 4), GROWING_FILE_GREW);
	assert_memory_equal(f.pending.data, "abcd", 4);
	growing_file_consume(&f, 3);
	assert_int_equal(growing_file_read(&f, 100), GROWING_FILE_GREW);
	assert_int_equal(f.pending.size, 3);
	assert_memory_equal(f.pending.data, "def", 3);
	assert_int_equal(growing_file_read(&f, 100), GROWING_FILE_SAME);
	assert_int_equal(ftruncate(writer, 0), 0);
	assert_int_equal(growing_file_read(&f, 100), GROWING_FILE_REWRITTEN);
	assert_int_equal(f.pending.size, 0);
	assert_int_equal(pwrite(writer, "xy", 2, 0), 2);
	assert_int_equal(growing_file_read(&f, 100), GROWING_FILE_GREW);
	assert_memory_equal(f.pending.data, "xy", 2);
	growing_file_release(&f);
	close(writer);
}

/* Another file's beginning, which is longer than what was read of this one. */
static void is_replaced_by_more(void **state)
{
	struct growing_file f;
	int writer = begin(&f);

	assert_int_equal(write(writer, "0123456789012345678901234567890123456789", 40), 40);
	for (uint64_t left = 40; left; left -= 10) {
		assert_int_equal(growing_file_read(&f, 10), GROWING_FILE_GREW);
		assert_int_equal(f.behind, left - 10);
		growing_file_consume(&f, 9);
	}
	assert_int_equal(pwrite(writer, "x", 1, 7), 1);
	assert_int_equal(pwrite(writer, "abc", 3, 40), 3);
	assert_int_equal(growing_file_read(&f, 2), GROWING_FILE_GREW);
	assert_int_equal(f.behind, 1);
	assert_int_equal(pwrite(writer, "x", 1, 11), 1);
	assert_int_equal(growing_file_read(&f, 100), GROWING_FILE_REWRITTEN);
	assert_int_equal(f.pending.size, 0);
	assert_int_equal(growing_file_read(&f, 100), GROWING_FILE_GREW);
	assert_int_equal(f.pending.size, 43);
	growing_file_release(&f);
	close(writer);
}

/* A sparse file of a terabyte costs its owner nothing, and there may be one for each process. */
static void gives_memory_back(void **state)
{
	struct growing_file f;
	int writer = begin(&f);

	assert_int_equal(ftruncate(writer, (off_t)1 << 40), 0);
	assert_int_equal(growing_file_read(&f, 8 << 20), GROWING_FILE_GREW);
	assert_true(f.pending.capacity >= 8 << 20);
	growing_file_consume(&f, (8 << 20) - 100);
	assert_int_equal(f.pending.size, 100);
	assert_true(f.pending.capacity <= 65536);
	assert_int_equal(growing_file_read(&f, 8 << 20), GROWING_FILE_GREW);
	growing_file_rewind(&f);
	assert_true(f.pending.capacity <= 65536);
	growing_file_release(&f);
	close(writer);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(grows_and_starts_anew),
	cmocka_unit_test(is_replaced_by_more),
	cmocka_unit_test(gives_memory_back),
};

UNIT_TESTS(tests);
