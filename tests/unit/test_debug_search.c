/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbols/debug_search.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/limits.h"
#include "tests/unit/elf_fixture.h"

struct folder {
	char path[64], main[96], debug[96], cache[96];
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
	snprintf(f->cache, sizeof(f->cache), "%s/cache", f->path);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct folder *f = *state;
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", f->path);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static bool search(const struct folder *f)
{
	const struct debug_search nowhere = { 0 };
	struct prf_object object = { .kind = PRF_OBJECT_FILE, .path = f->main, .root = "" };
	struct found_file main = { 0 }, debug = { 0 };
	bool found = found_file_open(&main, NULL, f->main);

	memcpy(object.build_id, main.elf.build_id, sizeof(object.build_id));
	object.build_id_size = main.elf.build_id_size;
	found = found && debug_search_debug(&nowhere, &object, &main, &debug);

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

/* A port of this machine, and its URL in the environment. */
static int listen_as_server(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char url[64];

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	return fd;
}

static bool is_asked(int fd, int milliseconds)
{
	return poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, milliseconds) == 1;
}

/* A server that is only named in the environment is asked by libdw, and not by us. */
static void test_network(void **state)
{
	static const uint8_t note[36] = "\4\0\0\0\24\0\0\0\3\0\0\0GNU\0an id of 20 bytes..";
	const struct fixture_section section = { ".note.gnu.build-id", SHF_ALLOC, note,
						 sizeof(note), SHT_NOTE };
	const struct folder *f = *state;
	void *client = dlopen("libdebuginfod.so.1", RTLD_NOW);
	int server, status;
	pid_t pid;

	if (!client)
		skip();
	dlclose(client);
	write_elf(f->main, &section, 0);
	server = listen_as_server();
	setenv("DEBUGINFOD_CACHE_PATH", f->cache, 1);
	assert_false(search(f));
	assert_false(is_asked(server, 0));
	pid = fork();
	if (!pid) {
		search_by_libdw(f);
		_exit(0);
	}
	assert_true(is_asked(server, 20000));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(server);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(test_checksum, setup, teardown),
	cmocka_unit_test_setup_teardown(test_pipe, setup, teardown),
	cmocka_unit_test_setup_teardown(test_network, setup, teardown),
};

UNIT_TESTS(tests);
