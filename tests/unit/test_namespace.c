/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/namespace.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[64], path[96], link_path[96];

static int setup(void **state)
{
	FILE *f;

	strcpy(folder, "/tmp/prof-inside.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(link_path, sizeof(link_path), "%s/link", folder);
	f = fopen(path, "w");
	return f && !fclose(f) ? symlink(path, link_path) : -1;
}

static int teardown(void **state)
{
	unlink(path);
	unlink(link_path);
	return rmdir(folder);
}

static void knows_itself(void **state)
{
	struct namespace inside;
	struct timespec now;
	char text[64];

	assert_int_equal(namespace_read(&inside, (uint32_t)getpid()), 0);
	assert_int_equal(inside.uid, geteuid());
	assert_string_equal(inside.root, "");
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_true(inside.start_ns > 0);
	assert_true(inside.start_ns <= (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	namespace_command_line((uint32_t)getpid(), text, sizeof(text));
	assert_non_null(strstr(text, "test_namespace"));
	namespace_command_line((uint32_t)getpid(), text, 5);
	assert_true(strlen(text) <= 4);
}

static void a_process_that_is_gone(void **state)
{
	struct namespace inside;
	pid_t child = fork();
	uint32_t inner_pid, inner_tid;
	char text[8];

	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(namespace_read(&inside, (uint32_t)child), -ESRCH);
	namespace_numbers((uint32_t)child, 77, &inner_pid, &inner_tid);
	assert_int_equal(inner_pid, child);
	assert_int_equal(inner_tid, 77);
	assert_int_equal(namespace_open_any((uint32_t)child, path), -ESRCH);
	namespace_command_line((uint32_t)child, text, sizeof(text));
	assert_string_equal(text, "");
}

static void opens_only_plain_files_of_the_owner(void **state)
{
	uint32_t self = (uint32_t)getpid();
	int fd = namespace_open(self, path, geteuid());

	if (fd == -ENOSYS)
		skip();
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(namespace_open(self, path, geteuid() + 1), -EPERM);
	assert_int_equal(namespace_open(self, link_path, geteuid()), -ELOOP);
	assert_int_equal(namespace_open(self, folder, geteuid()), -EINVAL);
	assert_int_equal(namespace_open(self, "/nowhere", geteuid()), -ENOENT);
	assert_int_equal(unlink(link_path), 0);
	assert_int_equal(mkfifo(link_path, 0600), 0);
	assert_int_equal(namespace_open(self, link_path, geteuid()), -EINVAL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(knows_itself),
	cmocka_unit_test(a_process_that_is_gone),
	cmocka_unit_test_setup_teardown(opens_only_plain_files_of_the_owner, setup, teardown),
};

UNIT_TESTS(tests);
