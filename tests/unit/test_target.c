/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/target.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/error_check.h"

/* Both ways of holding a process: by pidfd, and by its folder where there is none. */
static void begin(struct target *t, void **state)
{
	target_init(t);
	t->folders = *state != NULL;
}

static void run(struct target *t, const char *script)
{
	static char sh[] = "/bin/sh", c[] = "-c";
	char *argv[] = { sh, c, (char *)(uintptr_t)script, NULL };

	assert_no_error(target_add_command(t, &(struct target_command){ argv }));
	assert_no_error(target_go(t));
}

static void cannot_go(struct target *t, int os_error)
{
	struct error *error = target_go(t);

	assert_true(error_is(error, os_error));
	error_free(error);
}

static void wait_and_look(struct target *t)
{
	/* Up to a minute: the machine may be busy. */
	for (int i = 0; i < 600 && !target_wait(t, 100); i++)
		;
	target_look(t);
}

static void passes_the_status_on(void **state)
{
	struct target t;

	begin(&t, state);
	run(&t, "exit 7");
	wait_and_look(&t);
	assert_true(t.reaped);
	assert_int_equal(t.alive, 0);
	assert_int_equal(target_exit_status(&t), 7);
	target_release(&t);
}

/* Beside another target, the command says how long; the end of either is the end. */
static void paces_a_recording(void **state)
{
	struct target t;

	begin(&t, state);
	t.paced = true;
	assert_no_error(target_add_process(&t, (uint32_t)getpid()));
	run(&t, "exit 0");
	assert_int_equal(t.pid_count, 1);
	assert_int_equal(t.pids[0], getpid());
	wait_and_look(&t);
	assert_true(target_has_ended(&t));
	target_release(&t);
	/* Without a command nothing paces: one of two targets may end. */
	begin(&t, state);
	assert_no_error(target_add_process(&t, (uint32_t)getpid()));
	assert_false(target_has_ended(&t));
	target_release(&t);
}

static void tells_signals_as_a_shell(void **state)
{
	struct target t;

	begin(&t, state);
	run(&t, "kill -9 $$");
	wait_and_look(&t);
	assert_int_equal(target_exit_status(&t), 128 + SIGKILL);
	target_release(&t);
}

static void begins_only_when_told(void **state)
{
	char path[] = "/tmp/prof-target.XXXXXX", script[64];
	int fd = mkstemp(path);
	struct target t;
	char *argv[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, script, NULL };

	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	snprintf(script, sizeof(script), "echo > %s", path);
	begin(&t, state);
	assert_no_error(target_add_command(&t, &(struct target_command){ argv }));
	assert_false(target_wait(&t, 50));
	assert_int_equal(access(path, F_OK), -1);
	assert_no_error(target_go(&t));
	wait_and_look(&t);
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
	target_release(&t);
}

static void never_let_go_it_never_runs(void **state)
{
	struct target t;
	char *argv[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, (char[]){ "exit 0" }, NULL };

	begin(&t, state);
	assert_no_error(target_add_command(&t, &(struct target_command){ argv }));
	target_release(&t); /* comes back: the child has ended */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void reports_what_cannot_be_run(void **state)
{
	char *missing[] = { (char[]){ "/nonexistent/command" }, NULL };
	char *no_program[] = { (char[]){ "/dev/null" }, NULL };
	struct target t;

	begin(&t, state);
	assert_no_error(target_add_command(&t, &(struct target_command){ missing }));
	cannot_go(&t, ENOENT);
	target_release(&t);
	begin(&t, state);
	assert_no_error(target_add_command(&t, &(struct target_command){ no_program }));
	cannot_go(&t, EACCES);
	target_release(&t);
}

static void watches_running_processes(void **state)
{
	struct target t;
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	begin(&t, state);
	assert_no_error(target_add_process(&t, (uint32_t)pid));
	assert_no_error(target_add_process(&t, (uint32_t)pid));
	assert_int_equal(t.n, 1);
	target_look(&t);
	assert_int_equal(t.alive, 1);
	kill(pid, SIGKILL);
	for (int i = 0; i < 600 && t.alive; i++) {
		poll(NULL, 0, 100);
		target_look(&t);
	}
	assert_int_equal(t.alive, 0);
	target_release(&t);
	/* It is a zombie now. */
	begin(&t, state);
	assert_error_kind(target_add_process(&t, (uint32_t)pid), ERROR_ARGUMENT);
	target_release(&t);
	waitpid(pid, NULL, 0);
	begin(&t, state);
	assert_error_kind(target_add_process(&t, INT32_MAX), ERROR_ARGUMENT);
	target_release(&t);
}

static void *wait_for_byte(void *fd)
{
	char byte;

	while (read(*(int *)fd, &byte, 1) < 0)
		;
	return NULL;
}

/* The number of a thread of ours that is not `other`. */
static uint32_t other_thread(uint32_t other)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc/self/task");
	uint32_t tid = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (*entry->d_name != '.' && strtoul(entry->d_name, NULL, 10) != other)
			tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
	closedir(dir);
	return tid;
}

static void watches_threads(void **state)
{
	uint32_t own = (uint32_t)getpid(), tid;
	struct target t;
	pthread_t thread;
	int fds[2];

	begin(&t, state);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_byte, &fds[0]), 0);
	tid = other_thread(own);
	assert_int_not_equal(tid, 0);
	assert_no_error(target_add_thread(&t, tid));
	assert_no_error(target_add_thread(&t, tid));
	assert_no_error(target_add_thread(&t, own));
	assert_int_equal(t.n, 2);
	assert_int_equal(t.pid_count, 1);
	assert_int_equal(t.pids[0], own);
	target_look(&t);
	assert_int_equal(t.alive, 2);
	assert_int_equal(write(fds[1], "", 1), 1);
	pthread_join(thread, NULL);
	for (int i = 0; i < 600 && t.alive == 2; i++) {
		poll(NULL, 0, 100);
		target_look(&t);
	}
	assert_int_equal(t.alive, 1);
	target_release(&t);
	begin(&t, state);
	assert_error_kind(target_add_thread(&t, INT32_MAX), ERROR_ARGUMENT);
	target_release(&t);
	close(fds[0]);
	close(fds[1]);
}

#define BOTH_WAYS(test)                                                                            \
	cmocka_unit_test(test),                                                                    \
	{                                                                                          \
#test " (folders)", test, NULL, NULL, (void *)1                                    \
	}

static const struct CMUnitTest tests[] = {
	BOTH_WAYS(passes_the_status_on),       BOTH_WAYS(paces_a_recording),
	BOTH_WAYS(tells_signals_as_a_shell),   BOTH_WAYS(begins_only_when_told),
	BOTH_WAYS(never_let_go_it_never_runs), BOTH_WAYS(reports_what_cannot_be_run),
	BOTH_WAYS(watches_running_processes),  BOTH_WAYS(watches_threads),
};

UNIT_TESTS(tests);
