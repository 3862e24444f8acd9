/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/proc.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void reads_maps(void **state)
{
	char text[] =
		"55d0a0000000-55d0a0001000 r--p 00000000 fe:00 42                 /usr/bin/x y\n"
		"7f0000000000-7f0000002000 r-xp 00003000 103:1b 77                 /a\\012b "
		"(deleted)\n"
		"7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0                          [vdso]\n"
		"nonsense\n"
		"2000-1000 r-xp 00000000 00:00 0 /upside/down\n"
		"7fff00000000-7fff00001000 rwxp 00000000 00:00 0 ";
	struct proc_mapping m;
	char *rest = text;

	rest = proc_next_mapping(rest, &m);
	assert_non_null(rest);
	assert_int_equal(m.start, 0x55d0a0000000);
	assert_int_equal(m.end, 0x55d0a0001000);
	assert_int_equal(m.major, 0xfe);
	assert_int_equal(m.inode, 42);
	assert_false(m.executable);
	assert_false(m.deleted);
	assert_string_equal(m.path, "/usr/bin/x y");
	rest = proc_next_mapping(rest, &m);
	assert_non_null(rest);
	assert_true(m.executable && m.deleted);
	assert_int_equal(m.offset, 0x3000);
	assert_int_equal(m.major, 0x103);
	assert_int_equal(m.minor, 0x1b);
	assert_string_equal(m.path, "/a\nb");
	rest = proc_next_mapping(rest, &m);
	assert_non_null(rest);
	assert_string_equal(m.path, "[vdso]");
	rest = proc_next_mapping(rest, &m);
	assert_non_null(rest);
	assert_int_equal(m.start, 0x7fff00000000);
	assert_string_equal(m.path, "");
	assert_null(proc_next_mapping(rest, &m));
}

static void cuts_the_mark_of_deleted_files(void **state)
{
	char gone[] = "/x (deleted)", there[] = "/x", only[] = " (deleted)";

	assert_true(cut_deleted(gone));
	assert_string_equal(gone, "/x");
	assert_false(cut_deleted(there));
	assert_false(cut_deleted(only));
}

static void knows_itself(void **state)
{
	struct buffer text = { 0 };
	struct proc_mapping m;
	uint32_t self = (uint32_t)getpid(), tgid = 0, parent = 0;
	char comm[16], exe[4096], *rest;
	bool found = false;

	assert_int_equal(proc_status(self, "Tgid:", &tgid), 0);
	assert_int_equal(tgid, self);
	assert_true(proc_has_thread(self, self));
	assert_int_equal(proc_status(self, "PPid:", &parent), 0);
	assert_int_equal(parent, getppid());
	assert_int_equal(proc_status(self, "Nothing:", &parent), -ENOENT);
	assert_int_equal(proc_comm(self, self, comm, sizeof(comm)), 0);
	assert_string_equal(comm, "test_proc");
	assert_int_equal(proc_link(self, "exe", exe, sizeof(exe)), 0);
	assert_int_equal(proc_link(self, "exe", exe, 3), -ENAMETOOLONG);
	assert_int_equal(proc_link(self, "exe", exe, sizeof(exe)), 0);
	assert_int_equal(proc_read(self, "maps", &text), 0);
	buffer_string(&text);
	for (rest = (char *)text.data; (rest = proc_next_mapping(rest, &m));)
		if (m.executable && !strcmp(m.path, exe))
			found = m.start <= (uintptr_t)knows_itself &&
				(uintptr_t)knows_itself < m.end;
	assert_true(found);
	buffer_release(&text);
}

static void count(uint32_t number, void *context)
{
	*(uint32_t *)context += number;
}

static void walks_folders_of_numbers(void **state)
{
	uint32_t sum = 0;

	assert_int_equal(proc_each("/proc/self/task", count, &sum), 0);
	assert_int_equal(sum, getpid());
	assert_int_equal(proc_each("/nonexistent", count, &sum), -ENOENT);
}

static void gone_processes(void **state)
{
	struct buffer text = { 0 };
	uint32_t value;

	/* No process has a number that large. */
	assert_true(proc_read(INT32_MAX, "maps", &text) < 0);
	assert_true(proc_status(INT32_MAX, "Tgid:", &value) < 0);
	assert_int_equal(proc_state(INT32_MAX, NULL), 'X');
	assert_false(proc_has_thread(INT32_MAX, INT32_MAX));
	assert_false(proc_has_thread((uint32_t)getpid(), INT32_MAX));
	buffer_release(&text);
}

/* It may run. */
static void a_process_that_cannot_be_looked_at(void **state)
{
	struct rlimit before, none;
	bool runs;
	char letter;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	letter = proc_state((uint32_t)getpid(), NULL);
	runs = proc_runs((uint32_t)getpid(), NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(letter, '?');
	assert_true(runs);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(reads_maps),	  cmocka_unit_test(cuts_the_mark_of_deleted_files),
	cmocka_unit_test(knows_itself),	  cmocka_unit_test(walks_folders_of_numbers),
	cmocka_unit_test(gone_processes), cmocka_unit_test(a_process_that_cannot_be_looked_at),
};

UNIT_TESTS(tests);
