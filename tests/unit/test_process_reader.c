/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/process_reader.h"
#include "tests/unit/child_fixture.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES (1 << 20)
#define NOBODY 65534

static char warning[256];
static unsigned int warnings;

static void keep_warning(const char *text)
{
	warnings++;
	snprintf(warning, sizeof(warning), "%s", text);
}

static int start(void **state)
{
	warnings = 0;
	*warning = 0;
	process_reader_start(keep_warning);
	return 0;
}

static int stop(void **state)
{
	process_reader_stop();
	return 0;
}

static uint32_t self(void)
{
	return (uint32_t)getpid();
}

static pid_t child(void)
{
	return child_called("prof-reader");
}

static bool read_bytes(uint32_t pid, void *to, const void *from, size_t size)
{
	const struct iovec here = { to, size }, there = { (void *)(uintptr_t)from, size };

	return process_reader_memory(pid, &here, &there, 1);
}

/* A process of that user, which has what this one has. */
static pid_t sleeper(uid_t uid)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (setuid(uid))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	return pid;
}

static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void check_pieces(uint32_t (*pid_of)(void))
{
	struct iovec here[2000], there[2000];
	uint8_t *from = malloc(BYTES), *to = calloc(1, BYTES);
	uint32_t pid;

	assert_true(from && to);
	for (size_t i = 0; i < BYTES; i++)
		from[i] = (uint8_t)(i * 7 + i / 256);
	pid = pid_of();
	assert_true(read_bytes(pid, to, from, BYTES));
	assert_memory_equal(to, from, BYTES);
	/* From the end, with empty ones between. */
	memset(to, 0, BYTES);
	for (size_t i = 0; i < 2000; i++) {
		size_t size = i < 1500 ? i % 5 != 0 : 100;

		here[i] = (struct iovec){ to + i * 200, size };
		there[i] = (struct iovec){ from + (1999 - i) * 200, size };
	}
	if (pid != self()) { /* more than the kernel takes at once */
		assert_true(process_reader_memory(pid, here, there, 2000));
		for (size_t i = 0; i < 2000; i++)
			assert_memory_equal(here[i].iov_base, there[i].iov_base, here[i].iov_len);
	}
	assert_true(process_reader_memory(pid, here, there, 0));
	free(from);
	free(to);
}

static void check_failures(uint32_t (*pid_of)(void))
{
	uint8_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
	uint8_t to[16];
	uint32_t pid;

	assert_true(pages != MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	pid = pid_of();
	assert_true(read_bytes(pid, to, pages + 4080, 16));
	assert_false(read_bytes(pid, to, pages + 4081, 16));
	assert_false(read_bytes(pid, to, NULL, 16));
	assert_true(read_bytes(pid, to, pages, 16));
	munmap(pages, 8192);
	assert_int_equal(warnings, 0);
}

/* Pages that nobody touched would have to be asked for. */
static void check_present(uint32_t (*pid_of)(void))
{
	uint8_t *pages = mmap(NULL, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			      0);
	uint64_t at = (uintptr_t)pages, to[512];
	uint32_t pid;

	assert_true(pages != MAP_FAILED);
	madvise(pages, 12288, MADV_NOHUGEPAGE);
	pages[4096] = 1;
	pid = pid_of();
	to[0] = 0;
	assert_true(process_reader_present(pid, to, at + 4096, 4096));
	assert_int_equal(to[0], 1);
	assert_true(process_reader_present(pid, to, at + 4196, 8));
	assert_false(process_reader_present(pid, to, at, 8));
	assert_false(process_reader_present(pid, to, at + 4092, 8));
	assert_false(process_reader_present(pid, to, at + 8188, 8));
	assert_false(process_reader_present(pid, to, UINT64_MAX - 7, 8));
	assert_false(process_reader_present(pid, to, at + 4096, 0));
	munmap(pages, 12288);
}

static void check_files(void)
{
	struct buffer text = { 0 }, maps = { 0 };

	assert_int_equal(process_reader_file(self(), "comm", 100, &text), 0);
	assert_string_equal(buffer_string(&text), "test_process_re\n");
	assert_int_equal(process_reader_file(self(), "comm", 4, &text), 0);
	assert_string_equal(buffer_string(&text), "test_process_re\ntest");
	assert_int_equal(process_reader_file(self(), "no such file", 100, &text), -ENOENT);
	assert_int_equal(process_reader_file(self(), "maps", 1 << 26, &maps), 0);
	assert_non_null(strstr(buffer_string(&maps), "[stack]"));
	buffer_release(&text);
	buffer_release(&maps);
}

static void test_here(void **state)
{
	check_pieces(self);
	check_failures(self);
	check_present(self);
	check_files();
	assert_int_equal(child(), 0);
}

static void test_own_processes(void **state)
{
	check_pieces(self);
	check_failures(self);
	check_present(self);
	assert_int_equal(child(), 0);
}

/* -------- those of other users -------- */

static pid_t another;

static uint32_t fork_another(void)
{
	if (another)
		end(another);
	another = sleeper(NOBODY);
	return (uint32_t)another;
}

static void only_root(void)
{
	if (getuid())
		skip();
}

static void test_by_the_child(void **state)
{
	only_root();
	check_files();
	assert_true(child() > 0);
	check_pieces(fork_another);
	check_failures(fork_another);
	check_present(fork_another);
	end(another);
	assert_false(read_bytes((uint32_t)another, warning, warning, 1));
	another = 0;
	assert_true(process_reader_cpu_ns() > 0);
	assert_int_equal(warnings, 0);
}

/* It is replaced, and others are read as before. */
static void test_one_does_not_answer(void **state)
{
	struct buffer text = { 0 };
	uint8_t byte = 0, seven = 7;
	pid_t pid, other, first;

	only_root();
	pid = sleeper(NOBODY);
	other = sleeper(NOBODY);
	assert_true(read_bytes((uint32_t)pid, &byte, &seven, 1));
	assert_int_equal(byte, 7);
	first = child_silence("prof-reader");
	assert_false(read_bytes((uint32_t)pid, &byte, &seven, 1));
	assert_true(child() != first);
	assert_int_equal(warnings, 1);
	assert_non_null(strstr(warning, "does not answer when its memory is read"));
	byte = 0;
	assert_true(read_bytes((uint32_t)other, &byte, &seven, 1));
	assert_int_equal(byte, 7);
	assert_false(read_bytes((uint32_t)pid, &byte, &seven, 1));
	assert_int_equal(process_reader_file((uint32_t)pid, "comm", 100, &text), -ETIMEDOUT);
	assert_int_equal(process_reader_file(self(), "comm", 100, &text), 0);
	assert_int_equal(warnings, 1);
	buffer_release(&text);
	end(pid);
	end(other);
}

/* Of one user: what that may cost is limited. */
static void test_many_do_not_answer(void **state)
{
	uint8_t byte = 0, seven = 7;
	unsigned int n = 0;
	pid_t pids[40];

	only_root();
	pids[0] = sleeper(NOBODY - 1);
	do {
		pids[++n] = sleeper(NOBODY);
		byte = 0;
		if (!read_bytes((uint32_t)pids[n], &byte, &seven, 1))
			break;
		assert_int_equal(byte, 7);
		child_silence("prof-reader");
		assert_false(read_bytes((uint32_t)pids[n], &byte, &seven, 1));
	} while (n < 39);
	/* So that user's processes are not asked any more, and another user's are. */
	assert_in_range(n, 1, 38);
	byte = 0;
	assert_true(read_bytes((uint32_t)pids[0], &byte, &seven, 1));
	assert_int_equal(byte, 7);
	assert_in_range(warnings, 1, 8);
	for (unsigned int i = 0; i <= n; i++)
		end(pids[i]);
}

/* By somebody else; there is another one, if that does not go on. */
static void test_the_child_is_killed(void **state)
{
	uint8_t byte, seven = 7;
	siginfo_t info;
	pid_t pid;

	only_root();
	pid = sleeper(NOBODY);
	for (unsigned int i = 0; i < 9; i++) {
		byte = 0;
		assert_true(read_bytes((uint32_t)pid, &byte, &seven, 1));
		assert_int_equal(byte, 7);
		assert_int_equal(kill(child(), SIGKILL), 0);
		assert_int_equal(waitid(P_PID, (id_t)child(), &info, WEXITED | WNOWAIT), 0);
		assert_false(read_bytes((uint32_t)pid, &byte, &seven, 1));
		assert_int_equal(warnings, i + 1);
	}
	assert_false(read_bytes((uint32_t)pid, &byte, &seven, 1));
	assert_int_equal(child(), 0);
	assert_non_null(strstr(warning, "from now on"));
	end(pid);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_here),
	cmocka_unit_test_setup_teardown(test_own_processes, start, stop),
	cmocka_unit_test_setup_teardown(test_by_the_child, start, stop),
	cmocka_unit_test_setup_teardown(test_one_does_not_answer, start, stop),
	cmocka_unit_test_setup_teardown(test_many_do_not_answer, start, stop),
	cmocka_unit_test_setup_teardown(test_the_child_is_killed, start, stop),
};

UNIT_TESTS(tests);
