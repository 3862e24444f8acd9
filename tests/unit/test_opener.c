/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/opener.h"
#include "tests/unit/child_fixture.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"

static char folder[64], path[96];
static unsigned int warnings;

static void count_warning(const char *text)
{
	assert_non_null(strstr(text, "the process that opens files"));
	warnings++;
}

static void make_file(const char *name)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
	strcpy(folder, "/tmp/prof-opener.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	make_file(path);
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	return rmdir(folder);
}

static int start(void **state)
{
	warnings = 0;
	return opener_start(count_warning) ? -1 : 0;
}

static int stop(void **state)
{
	opener_stop();
	return 0;
}

static int open_path(uint32_t pid, const char *name, struct open_file *file)
{
	const struct opening what = {
		.kind = OPENING_PATH, .pid = pid, .uid = OPENING_ANY_UID, .path = name
	};

	return opener_open(&what, file);
}

/* Asks until there is an answer, as callers do when opener_answers() changes. */
static int open_at_last(uint32_t pid, const char *name, struct open_file *file)
{
	int error;

	while ((error = open_path(pid, name, file)) == -EAGAIN) {
		struct pollfd fd = { opener_fd(), POLLIN, 0 };

		poll(&fd, 1, 100);
		opener_look(0);
	}
	return error;
}

static void wait_for_answers(uint64_t count)
{
	while (opener_answers() < count) {
		struct pollfd fd = { opener_fd(), POLLIN, 0 };

		poll(&fd, 1, 100);
		opener_look(0);
	}
}

static void opens_files(void **state)
{
	struct opening what = { .kind = OPENING_STATUS, .path = path };
	struct open_file file;
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(open_at_last(0, path, &file), 0);
	assert_int_equal(file.status.st_ino, st.st_ino);
	assert_int_equal(close(file.fd), 0);
	assert_int_equal(open_at_last((uint32_t)getpid(), path, &file), 0);
	assert_int_equal(close(file.fd), 0);
	assert_int_equal(open_at_last(0, "/nowhere", &file), -ENOENT);
	assert_int_equal(file.fd, -1);
	what.pid = (uint32_t)getpid();
	assert_int_equal(opener_open(&what, &file), -EINVAL);
}

/* Of what is on no local file system. */
static void copies(void **state)
{
	struct opening what = { .kind = OPENING_GROWING, .path = "/proc/version" };
	char text[256] = "";
	struct open_file file;
	int error;

	assert_int_equal(open_at_last(0, what.path, &file), 0);
	assert_true(file.copied);
	assert_true(pread(file.fd, text, sizeof(text) - 1, 0) > 0);
	assert_memory_equal(text, "Linux version", strlen("Linux version"));
	close(file.fd);
	what.uid = OPENING_ANY_UID;
	while ((error = opener_open(&what, &file)) == -EAGAIN)
		opener_look(0);
	assert_int_equal(error, -EREMOTE);
	assert_int_equal(file.fd, -1);
}

/* Neither the opener waits for its end nor anybody for another answer. */
static void a_lease(void **state)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct open_file file;

	assert_true(fd >= 0);
	signal(SIGIO, SIG_IGN);
	if (fcntl(fd, F_SETLEASE, F_WRLCK)) {
		close(fd);
		skip();
	}
	assert_int_equal(open_at_last(0, path, &file), -EIO);
	assert_int_equal(file.fd, -1);
	close(fd);
	assert_int_equal(open_at_last(0, path, &file), 0);
	close(file.fd);
}

static void one_user_does_not_keep_out_others(void **state)
{
	uint64_t before = opener_answers();
	pid_t process = child_silence(NULL);
	struct open_file file;
	char name[128];

	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "%s/%d", folder, i);
		assert_int_equal(open_path((uint32_t)getpid(), name, &file), -EAGAIN);
	}
	assert_int_equal(open_path(0, path, &file), -EAGAIN);
	kill(process, SIGCONT);
	/* The others were not asked. */
	wait_for_answers(before + 5);
	poll(NULL, 0, 50);
	opener_look(0);
	assert_int_equal(opener_answers(), before + 5);
	/* The answer that it has, without another question. */
	child_silence(NULL);
	assert_int_equal(open_path(0, path, &file), 0);
	close(file.fd);
	kill(process, SIGCONT);
	/* Answers that nobody has come for keep nobody out. */
	snprintf(name, sizeof(name), "%s/200", folder);
	assert_int_equal(open_at_last((uint32_t)getpid(), name, &file), -ENOENT);
	/* The first four make room for others, which is told. */
	snprintf(name, sizeof(name), "%s/0", folder);
	before = opener_answers();
	assert_int_equal(open_path((uint32_t)getpid(), name, &file), -ENOENT);
	assert_true(opener_answers() > before);
	snprintf(name, sizeof(name), "%s/299", folder);
	assert_int_equal(open_at_last((uint32_t)getpid(), name, &file), -ENOENT);
}

static void a_killed_process_is_replaced(void **state)
{
	pid_t old = child_silence(NULL);
	struct open_file file;

	assert_int_equal(open_path(0, path, &file), -EAGAIN);
	kill(old, SIGKILL);
	assert_int_equal(open_at_last(0, path, &file), 0);
	close(file.fd);
	assert_int_equal(warnings, 1);
	/* Until it is no zombie either. */
	while (!kill(old, 0))
		opener_look(0);
	/* Not forever. */
	for (int i = 0; i < 8; i++) {
		pid_t process = child_called(NULL);

		assert_true(process > 0);
		kill(process, SIGKILL);
		while (warnings == (unsigned int)i + 1)
			opener_look(0);
	}
	assert_int_equal(open_path(0, path, &file), -EIO);
	assert_int_equal(opener_fd(), -1);
	opener_look(0);
	assert_int_equal(warnings, 9);
}

static void no_number_for_an_answer(void **state)
{
	struct rlimit limit, low;
	struct open_file file;
	int next = dup(0), error;

	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	low.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	error = open_at_last(0, path, &file);
	setrlimit(RLIMIT_NOFILE, &limit);
	assert_int_equal(error, -EMFILE);
	assert_int_equal(open_at_last(0, path, &file), 0);
	close(file.fd);
}

/* A late answer is for the folder that was asked about, not for the one that has its number now. */
static void a_folder_of_the_same_number(void **state)
{
	struct opening what = { .kind = OPENING_PATH,
				.pid = (uint32_t)getpid(),
				.in_folder = true,
				.uid = getuid(),
				.path = "file" };
	uint64_t before = opener_answers();
	pid_t process = child_silence(NULL);
	struct open_file file;

	what.folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(what.folder >= 0);
	assert_int_equal(opener_open(&what, &file), -EAGAIN);
	kill(process, SIGCONT);
	wait_for_answers(before + 1);
	close(what.folder);
	assert_int_equal(open("/usr", O_PATH | O_DIRECTORY | O_CLOEXEC), what.folder);
	before = opener_answers();
	while (opener_open(&what, &file) == -EAGAIN)
		wait_for_answers(before + 1);
	assert_int_equal(file.fd, -1);
	close(what.folder);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

static const struct CMUnitTest tests[] = {
	TEST(opens_files),
	TEST(copies),
	TEST(a_lease),
	TEST(one_user_does_not_keep_out_others),
	TEST(no_number_for_an_answer),
	TEST(a_folder_of_the_same_number),
	TEST(a_killed_process_is_replaced),
};

UNIT_TESTS(tests, .setup = setup, .teardown = teardown);
