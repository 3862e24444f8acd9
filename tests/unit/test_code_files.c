/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/code_files.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static int tear_down(void **state)
{
	code_files_release(*state);
	return 0;
}

/* A new file, which is removed at once, and that a process of the user needs. */
static struct code_file *add(struct code_files *files, uint32_t user)
{
	char path[] = "/tmp/prof-test.XXXXXX";
	int fd = mkstemp(path);
	struct code_file *file;

	assert_true(fd >= 0);
	close(fd);
	file = code_files_get_path(files, path);
	unlink(path);
	assert_non_null(file);
	code_files_need(files, file, user, 1);
	return file;
}

/* The next one is this one, and its table takes so long. */
static void build(struct code_files *files, struct code_file *file, uint64_t ns)
{
	assert_ptr_equal(code_files_next_waiting(files), file);
	file->state = CODE_FILE_READY;
	shares_take(&files->work_ns, file->user, ns);
}

/* Nobody's files keep others' waiting. */
static void test_whose_table_is_next(void **state)
{
	static struct code_files files;
	struct code_file *first, *second, *third, *other, *of_root;

	*state = &files;
	assert_null(code_files_next_waiting(&files));
	first = add(&files, 1);
	second = add(&files, 1);
	third = add(&files, 1);
	other = add(&files, 2);
	of_root = add(&files, 0);
	build(&files, of_root, 1000);
	build(&files, first, 10);
	build(&files, other, 20);
	build(&files, second, 5);
	other = add(&files, 2);
	of_root = add(&files, 0);
	build(&files, of_root, 1000);
	build(&files, third, 10);
	build(&files, other, 1);
	assert_null(code_files_next_waiting(&files));
}

/* Who has waited least has it made, for others too. */
static void test_several_need_a_file(void **state)
{
	static struct code_files files;
	struct code_file *first, *shared;

	*state = &files;
	shares_take(&files.work_ns, 1, 100);
	first = add(&files, 1);
	shared = add(&files, 1);
	code_files_need(&files, shared, 2, 7);
	assert_int_equal(shared->user, 2);
	assert_int_equal(shared->needed_ns, 1);
	code_files_need(&files, shared, 1, 8);
	assert_int_equal(shared->user, 2);
	build(&files, shared, 1000);
	build(&files, first, 1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_teardown(test_whose_table_is_next, tear_down),
	cmocka_unit_test_teardown(test_several_need_a_file, tear_down),
};

UNIT_TESTS(tests);
