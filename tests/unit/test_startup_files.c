/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/startup_files.h"
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct found {
	size_t n, libc, self, shell, jvm;
};

static void note(void *context, const char *path)
{
	struct found *f = context;

	f->n++;
	f->libc += strstr(path, "/libc.so") != NULL;
	f->self += strstr(path, "test_startup_files") != NULL;
	f->shell += strstr(path, "sh") != NULL;
	f->jvm += strstr(path, "/lib/server/libjvm.so") != NULL;
}

static void test_own_libraries(void **state)
{
	struct found f = { 0 };

	startup_files_each("/proc/self/exe", note, &f);
	assert_int_equal(f.self, 1);
	if (f.n == 1)
		skip(); /* linked statically */
	assert_int_equal(f.libc, 1);
}

static void test_script_runs_its_interpreter(void **state)
{
	char path[] = "/tmp/prof-test.XXXXXX";
	int fd = mkstemp(path);
	struct found f = { 0 };

	assert_true(fd >= 0);
	assert_true(write(fd, "#!/bin/sh -e\n", 13) == 13);
	fchmod(fd, 0700);
	close(fd);
	startup_files_each(path, note, &f);
	unlink(path);
	assert_true(f.shell >= 1);
	assert_true(f.n >= 2);
}

/* As a program of that name does that stands before the real one in PATH. */
static void test_script_that_runs_itself(void **state)
{
	char folder[] = "/tmp/prof-test.XXXXXX", path[64], *old = getenv("PATH");
	struct found f = { 0 };
	FILE *file;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/itself", folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("#!/usr/bin/env itself\n", file);
	fchmod(fileno(file), 0700);
	fclose(file);
	old = strdup(old ? old : "");
	assert_non_null(old);
	setenv("PATH", folder, 1);
	startup_files_each("itself", note, &f);
	setenv("PATH", old, 1);
	free(old);
	unlink(path);
	rmdir(folder);
	assert_true(f.n >= 1);
}

static void put_program(const char *folder, const char *name, char *path, size_t size)
{
	FILE *file;

	snprintf(path, size, "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fchmod(fileno(file), 0700);
	fclose(file);
}

static void test_launcher_opens_the_java_machine(void **state)
{
	char home[] = "/tmp/prof-test.XXXXXX", launcher[64], machine[64], command[128];
	static const char *const folders[] = { "bin", "lib", "lib/server" };
	struct found f = { 0 };

	assert_non_null(mkdtemp(home));
	for (size_t i = 0; i < 3; i++) {
		snprintf(machine, sizeof(machine), "%s/%s", home, folders[i]);
		assert_int_equal(mkdir(machine, 0700), 0);
	}
	put_program(home, "bin/java", launcher, sizeof(launcher));
	put_program(home, "lib/server/libjvm.so", machine, sizeof(machine));
	startup_files_each(launcher, note, &f);
	assert_int_equal(f.jvm, 1);
	snprintf(command, sizeof(command), "rm -r %s", home);
	assert_int_equal(system(command), 0);
}

static void test_nothing_to_find(void **state)
{
	struct found f = { 0 };

	startup_files_each("no-such-program-anywhere", note, &f);
	startup_files_each("/no/such/program", note, &f);
	startup_files_each("", note, &f);
	assert_int_equal(f.n, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_own_libraries),
	cmocka_unit_test(test_script_runs_its_interpreter),
	cmocka_unit_test(test_script_that_runs_itself),
	cmocka_unit_test(test_launcher_opens_the_java_machine),
	cmocka_unit_test(test_nothing_to_find),
};

UNIT_TESTS(tests);
