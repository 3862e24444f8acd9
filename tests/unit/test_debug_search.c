/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbols/debug_search.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/limits.h"
#include "tests/unit/elf_fixture.h"

struct folder {
	char path[64], main[96], debug[96];
};

static void write_elf(const char *path, const struct fixture_section *section, uint64_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct buffer b = { 0 };

	assert_true(fd >= 0);
	fixture_elf(&b, section, 1);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(pwrite(fd, b.data, b.size, 0), (ssize_t)b.size);
	buffer_release(&b);
	close(fd);
}

/* A file without build-id whose .gnu_debuglink is "link.debug", with this checksum. */
static void write_main(const struct folder *f, uint32_t checksum)
{
	uint8_t link[16] = "link.debug";
	const struct fixture_section section = { ".gnu_debuglink", 0, link, sizeof(link) };

	memcpy(link + 12, &checksum, sizeof(checksum));
	write_elf(f->main, &section, 0);
}

static int setup(void **state)
{
	struct folder *f = calloc(1, sizeof(*f));

	strcpy(f->path, "/tmp/prof-test.XXXXXX");
	if (!mkdtemp(f->path))
		return -1;
	snprintf(f->main, sizeof(f->main), "%s/main", f->path);
	snprintf(f->debug, sizeof(f->debug), "%s/link.debug", f->path);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct folder *f = *state;

	unlink(f->main);
	unlink(f->debug);
	rmdir(f->path);
	free(f);
	return 0;
}

static bool search(const struct folder *f)
{
	const struct debug_search nowhere = { 0 };
	const struct prf_object object = { .kind = PRF_OBJECT_FILE, .path = f->main, .root = "" };
	struct found_file main = { 0 }, debug = { 0 };
	bool found = found_file_open(&main, NULL, f->main) &&
		     debug_search_debug(&nowhere, &object, &main, &debug);

	found_file_release(&debug);
	found_file_release(&main);
	return found;
}

static void test_checksum(void **state)
{
	const struct folder *f = *state;
	const struct fixture_section section = { ".x", 0, "x", 1 };
	struct found_file debug = { 0 };
	uint32_t checksum;

	write_elf(f->debug, &section, 0);
	assert_true(found_file_open(&debug, NULL, f->debug));
	checksum = libdeflate_crc32(0, debug.elf.data, debug.elf.size);
	found_file_release(&debug);
	write_main(f, checksum);
	assert_true(search(f));
	write_main(f, checksum + 1);
	assert_false(search(f));
	/* Terabytes are not read to compare them with a checksum. */
	write_elf(f->debug, &section, UINT64_C(2) << 40);
	assert_false(search(f));
}

/* What libdw would do: waits for somebody to write to the pipe. */
static void search_by_libdw(const struct folder *f)
{
	const Dwfl_Callbacks callbacks = { .find_debuginfo = dwfl_standard_find_debuginfo,
					   .section_address = dwfl_offline_section_address };
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module = dwfl_report_offline(dwfl, "", f->main, -1);
	char *path = NULL;

	dwfl_report_end(dwfl, NULL, NULL);
	dwfl_standard_find_debuginfo(module, NULL, "", 0, f->main, "link.debug", 1, &path);
}

static void test_pipe(void **state)
{
	const struct folder *f = *state;
	const struct itimerval soon = { .it_value = { .tv_usec = 300000 } };
	int status;
	pid_t pid;

	write_main(f, 1);
	unlink(f->debug);
	assert_int_equal(mkfifo(f->debug, 0600), 0);
	assert_false(search(f));
	/* So it is not libdw that searches. */
	pid = fork();
	if (!pid) {
		setitimer(ITIMER_REAL, &soon, NULL);
		search_by_libdw(f);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_checksum, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pipe, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
