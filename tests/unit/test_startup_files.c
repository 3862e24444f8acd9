/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/startup_files.h"
#include "tests/unit/unit.h"

#include <elf.h>
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

/* An ELF file that needs so many others, of which only the last one is there. */
static void put_needs(int fd, size_t entries)
{
	const size_t size = (entries + 2) * sizeof(Elf64_Dyn);
	const Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	const Elf64_Phdr segments[2] = {
		{ .p_type = PT_LOAD, .p_filesz = 0x1000 + size, .p_memsz = 0x1000 + size },
		{ .p_type = PT_DYNAMIC,
		  .p_offset = 0x1000,
		  .p_vaddr = 0x1000,
		  .p_filesz = size,
		  .p_memsz = size },
	};
	Elf64_Dyn *dynamic = calloc(entries + 2, sizeof(*dynamic));

	assert_non_null(dynamic);
	dynamic[0] = (Elf64_Dyn){ .d_tag = DT_STRTAB, .d_un.d_ptr = 0x800 };
	for (size_t i = 1; i <= entries; i++)
		dynamic[i].d_tag = DT_NEEDED;
	dynamic[entries].d_un.d_val = 11;
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(pwrite(fd, segments, sizeof(segments), sizeof(header)), sizeof(segments));
	assert_int_equal(pwrite(fd, "libnone.so\0libc.so.6", 21, 0x800), 21);
	assert_int_equal(pwrite(fd, dynamic, size, 0x1000), (ssize_t)size);
	free(dynamic);
}

/* The last library would be found after minutes. */
static void test_not_everything_is_searched_for(void **state)
{
	char path[] = "/tmp/prof-test.XXXXXX";
	int fd = mkstemp(path);
	struct found f = { 0 };

	assert_true(fd >= 0);
	put_needs(fd, 4000000);
	fchmod(fd, 0700);
	close(fd);
	startup_files_each(path, note, &f);
	unlink(path);
	assert_int_equal(f.n, 1);
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
	cmocka_unit_test(test_not_everything_is_searched_for),
	cmocka_unit_test(test_nothing_to_find),
};

UNIT_TESTS(tests);
