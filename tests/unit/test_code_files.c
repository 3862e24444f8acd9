/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/code_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "record/system/patience.h"
#include "tests/unit/unit.h"

static int tear_down(void **state)
{
	code_files_release(*state);
	return 0;
}

/* A new file of that owner, which is removed at once. */
static struct code_file *add_of(struct code_files *files, uid_t owner)
{
	char path[] = "/tmp/prof-test.XXXXXX";
	int fd = mkstemp(path), status;
	struct code_file *file;

	assert_true(fd >= 0);
	status = fchown(fd, owner, (gid_t)-1);
	close(fd);
	file = code_files_get_path(files, path);
	unlink(path);
	assert_non_null(file);
	if (status)
		skip();
	return file;
}

/* A file of root that a process of the user needs. */
static struct code_file *add(struct code_files *files, uint32_t user)
{
	struct code_file *file = add_of(files, 0);

	code_files_need(files, file, user, 1);
	return file;
}

#define NOW 1000

/* The next one is this one, and its table takes so long. */
static void build(struct code_files *files, struct code_file *file, uint32_t user, uint64_t ns)
{
	uint32_t payer;

	assert_ptr_equal(code_files_next_waiting(files, NOW, &payer), file);
	assert_int_equal(payer, user);
	file->state = CODE_FILE_READY;
	shares_take(&files->work_ns, payer, ns);
}

/* Nobody's files keep others' waiting. */
static void test_whose_table_is_next(void **state)
{
	static struct code_files files;
	struct code_file *first, *second, *third, *other, *of_root;
	uint32_t user;

	*state = &files;
	code_files_init(&files);
	assert_null(code_files_next_waiting(&files, NOW, &user));
	first = add(&files, 1);
	second = add(&files, 1);
	third = add(&files, 1);
	other = add(&files, 2);
	of_root = add(&files, 0);
	build(&files, of_root, 0, 1000);
	build(&files, first, 1, 10);
	build(&files, other, 2, 20);
	build(&files, second, 1, 5);
	other = add(&files, 2);
	of_root = add(&files, 0);
	build(&files, of_root, 0, 1000);
	build(&files, third, 1, 10);
	build(&files, other, 2, 1);
	assert_null(code_files_next_waiting(&files, NOW, &user));
}

/* Others go on while the memory for a file's table rests. */
static void test_a_file_that_waits_for_memory(void **state)
{
	static struct code_files files;
	struct code_file *first, *second;
	uint32_t user;

	*state = &files;
	code_files_init(&files);
	assert_int_equal(code_files_next_ns(&files), UINT64_MAX);
	first = add(&files, 1);
	second = add(&files, 1);
	first->later_ns = NOW + 1;
	assert_int_equal(code_files_next_ns(&files), 0);
	second->later_ns = NOW + 2;
	assert_int_equal(code_files_next_ns(&files), NOW + 1);
	second->later_ns = 0;
	build(&files, second, 1, 10);
	assert_int_equal(code_files_next_ns(&files), NOW + 1);
	assert_null(code_files_next_waiting(&files, NOW, &user));
	assert_ptr_equal(code_files_next_waiting(&files, NOW + 1, &user), first);
}

#define MAPPED 6

/* A process of the user maps one of the files. */
static struct code_file *map_as(struct code_files *files, uint32_t user, char *path)
{
	struct object object = { .definition = { .kind = PRF_OBJECT_FILE, .path = path },
				 .file = { .fd = -1 } };
	const struct mapping mapping = { .object = &object };
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	object.definition.inode = status.st_ino;
	return code_files_get(files, (uint32_t)getpid(), user, &mapping);
}

struct mapped_files {
	char paths[MAPPED][24];
};

static void make_files(struct mapped_files *made)
{
	for (int i = 0; i < MAPPED; i++) {
		int fd;

		strcpy(made->paths[i], "/tmp/prof-test.XXXXXX");
		fd = mkstemp(made->paths[i]);
		assert_true(fd >= 0);
		close(fd);
	}
}

static void remove_files(const struct mapped_files *made)
{
	for (int i = 0; i < MAPPED; i++)
		unlink(made->paths[i]);
}

/* Users of containers: all of their files are of their own share. */
#define SEVEN patience_user(7, true)
#define EIGHT patience_user(8, true)

/* One user's files do not take the room of others'. */
static void test_files_are_shared(void **state)
{
	static struct code_files files;
	struct code_file *file, *again;
	struct mapped_files made;

	*state = &files;
	code_files_init(&files);
	files.known.limit = 5;
	files.kept.limit = 2;
	make_files(&made);
	file = map_as(&files, SEVEN, made.paths[0]);
	assert_true(file && file->kept >= 0 && file->user == SEVEN);
	file = map_as(&files, SEVEN, made.paths[1]);
	assert_true(file && file->kept < 0);
	assert_null(map_as(&files, SEVEN, made.paths[2]));
	assert_ptr_equal(map_as(&files, SEVEN, made.paths[1]), file);
	assert_non_null(map_as(&files, EIGHT, made.paths[2]));
	assert_null(map_as(&files, EIGHT, made.paths[3]));
	/* It is of his share whose process came first. */
	again = map_as(&files, 0, made.paths[1]);
	assert_ptr_equal(again, file);
	code_files_take(&files, file);
	code_file_free(file);
	assert_non_null(map_as(&files, SEVEN, made.paths[3]));
	assert_null(map_as(&files, SEVEN, made.paths[4]));
	file = map_as(&files, 0, made.paths[4]);
	assert_true(file && file->kept >= 0);
	assert_non_null(map_as(&files, 0, made.paths[1]));
	assert_null(map_as(&files, 0, made.paths[5]));
	remove_files(&made);
}

/* Whoever can make such a file pays, as far as it is known. */
static void test_who_pays(void **state)
{
	struct code_file of_root = { .owner = 0 }, ours = { .owner = geteuid() },
			 theirs = { .owner = 7 }, copy = { .owner = CODE_FILE_NO_OWNER };

	assert_int_equal(code_file_payer(&of_root, 9), 0);
	assert_int_equal(code_file_payer(&ours, 9), 0);
	assert_int_equal(code_file_payer(&theirs, 0), 7);
	assert_int_equal(code_file_payer(&theirs, PATIENCE_NOBODY), 7);
	assert_int_equal(code_file_payer(&of_root, SEVEN), SEVEN);
	assert_int_equal(code_file_payer(&of_root, patience_user(0, true)), patience_user(0, true));
	assert_int_equal(code_file_payer(&copy, 9), 9);
	assert_int_equal(code_file_payer(&copy, 0), 0);
}

/* Those stay for whom another one pays. */
static void test_who_else_needs_a_file(void **state)
{
	struct code_file copy = { .owner = CODE_FILE_NO_OWNER,
				  .users = { 5, 7, 5 },
				  .user_count = 3 };

	assert_true(code_file_is_for_others(&copy, 5));
	assert_int_equal(copy.user_count, 1);
	assert_int_equal(copy.users[0], 7);
	assert_false(code_file_is_for_others(&copy, 7));
	assert_int_equal(copy.user_count, 0);
}

/* What did not fit into one share may fit into another. */
static void test_refused_to_one(void **state)
{
	static struct code_files files;
	struct code_file *file;
	struct mapped_files made;

	*state = &files;
	code_files_init(&files);
	make_files(&made);
	file = map_as(&files, SEVEN, made.paths[0]);
	assert_non_null(file);
	code_files_close(&files, file);
	file->state = CODE_FILE_REFUSED;
	file->refused_ns = clock_now();
	file->refused_to = SEVEN;
	assert_ptr_equal(map_as(&files, SEVEN, made.paths[0]), file);
	assert_int_equal(file->state, CODE_FILE_REFUSED);
	assert_ptr_equal(map_as(&files, 0, made.paths[0]), file);
	assert_int_equal(file->state, CODE_FILE_WAITING);
	remove_files(&made);
}

/* Whoever's turn comes first has it made, for all. */
static void test_several_need_a_file(void **state)
{
	static struct code_files files;
	struct code_file *first, *shared;

	*state = &files;
	code_files_init(&files);
	shares_take(&files.work_ns, 1, 100);
	shares_take(&files.work_ns, 2, 200);
	first = add(&files, 1);
	shared = add(&files, 1);
	code_files_need(&files, shared, 2, 7);
	/* It is waited for since then. */
	assert_int_equal(shared->needed_ns, 7);
	code_files_need(&files, shared, 1, 8);
	assert_int_equal(shared->needed_ns, 7);
	shares_take(&files.work_ns, 1, 1000);
	build(&files, shared, 2, 2000);
	build(&files, first, 1, 1);
}

/* Of many, those are kept whose turn comes first. */
static void test_many_need_a_file(void **state)
{
	static struct code_files files;
	struct code_file *shared;

	*state = &files;
	code_files_init(&files);
	for (uint32_t user = 1; user <= 20; user++)
		shares_take(&files.work_ns, user, 100 - user);
	shared = add(&files, 1);
	for (uint32_t user = 2; user <= 20; user++)
		code_files_need(&files, shared, user, 1);
	code_files_need(&files, shared, 3, 1);
	build(&files, shared, 20, 1);
}

/* A program that is about to be started is root's, whoever runs it already; only root's own files
 * come first. */
static void test_prepared_and_others_files(void **state)
{
	static struct code_files files;
	struct code_file *first, *prepared, *theirs, *nobody;

	*state = &files;
	code_files_init(&files);
	shares_take(&files.work_ns, 1, 100);
	theirs = add_of(&files, 1);
	code_files_need(&files, theirs, 0, 1);
	first = add(&files, 1);
	prepared = add_of(&files, 0);
	code_files_need(&files, prepared, 0, 0);
	assert_int_equal(prepared->needed_ns, 0);
	code_files_need(&files, prepared, 1, 5);
	assert_int_equal(prepared->needed_ns, 5);
	build(&files, prepared, 0, 1000);
	nobody = add_of(&files, 0);
	build(&files, nobody, 0, 1000);
	build(&files, first, 1, 10000);
	build(&files, theirs, 0, 1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_teardown(test_whose_table_is_next, tear_down),
	cmocka_unit_test_teardown(test_a_file_that_waits_for_memory, tear_down),
	cmocka_unit_test_teardown(test_files_are_shared, tear_down),
	cmocka_unit_test(test_who_pays),
	cmocka_unit_test(test_who_else_needs_a_file),
	cmocka_unit_test_teardown(test_refused_to_one, tear_down),
	cmocka_unit_test_teardown(test_several_need_a_file, tear_down),
	cmocka_unit_test_teardown(test_many_need_a_file, tear_down),
	cmocka_unit_test_teardown(test_prepared_and_others_files, tear_down),
};

UNIT_TESTS(tests);
