/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/target.h"

#include "record/system/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL /* Linux 6.9 */
#endif

void target_init(struct target *t)
{
	*t = (struct target){ .go_fd = -1, .error_fd = -1 };
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_pair(int fds[2])
{
	close_fd(&fds[0]);
	close_fd(&fds[1]);
}

void target_release(struct target *t)
{
	bool waiting = t->go_fd >= 0;

	close_fd(&t->go_fd);
	close_fd(&t->error_fd);
	if (t->command && waiting)
		waitpid(t->command, NULL, 0);
	for (size_t i = 0; i < t->n; i++)
		close_fd(&t->pidfds[i]);
	free(t->pidfds);
	free(t->ids);
	free(t->pids);
	target_init(t);
}

/* An fd, or -1 and errno. */
static int open_task(struct target *t, uint32_t id, bool thread)
{
	char folder[32];
	int fd = -1;

	if (!t->folders)
		fd = (int)syscall(SYS_pidfd_open, (pid_t)id, thread ? PIDFD_THREAD : 0);
	if (fd < 0 && !t->folders &&
	    (errno == ENOSYS || errno == EPERM || (thread && errno == EINVAL)))
		t->folders = true;
	if (t->folders) {
		/*
		 * A thread has a folder in /proc even if it is not its process's first one, though
		 * it is not listed.
		 */
		snprintf(folder, sizeof(folder), "/proc/%" PRIu32, id);
		fd = open(folder, O_DIRECTORY | O_PATH | O_CLOEXEC);
	}
	return fd;
}

/* A zombie counts as ended: no more samples can come from it. */
static bool has_ended(const struct target *t, size_t i)
{
	struct pollfd p = { .fd = t->pidfds[i], .events = POLLIN };
	char text[512], *comm_end;
	ssize_t n = -1;
	int fd;

	if (!t->folders)
		return poll(&p, 1, 0) == 1;
	fd = openat(t->pidfds[i], "stat", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = 0;
	comm_end = strrchr(text, ')');
	return !comm_end || comm_end[1] != ' ' || comm_end[2] == 'Z' || comm_end[2] == 'X';
}

/* Appends to an array of numbers. False without memory. */
static bool append(uint32_t **numbers, size_t n, uint32_t number)
{
	uint32_t *more = reallocarray(*numbers, n + 1, sizeof(*more));

	if (!more)
		return false;
	*numbers = more;
	more[n] = number;
	return true;
}

static bool is_among(const uint32_t *numbers, size_t n, uint32_t number)
{
	for (size_t i = 0; i < n; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

static const char *noun(bool thread)
{
	return thread ? "thread" : "process";
}

static struct error *no_such(uint32_t id, bool thread)
{
	return error_new(ERROR_ARGUMENT, "no %s %" PRIu32 "; it may have ended", noun(thread), id);
}

/* Adds a process, or one thread of it, to those that are waited for. */
static struct error *add(struct target *t, uint32_t id, uint32_t pid, bool thread)
{
	int *pidfds = reallocarray(t->pidfds, t->n + 1, sizeof(*pidfds));
	int fd;

	if (!pidfds)
		return error_memory();
	t->pidfds = pidfds;
	if (!append(&t->ids, t->n, id))
		return error_memory();
	if (!is_among(t->pids, t->pid_count, pid) && !(t->paced && pid == (uint32_t)t->command)) {
		if (!append(&t->pids, t->pid_count, pid))
			return error_memory();
		t->pid_count++;
	}
	fd = open_task(t, id, thread);
	if (fd < 0 && errno == ESRCH)
		return no_such(id, thread);
	if (fd < 0)
		return error_system(errno, "cannot watch %s %" PRIu32, noun(thread), id);
	t->pidfds[t->n++] = fd;
	t->alive++;
	return NULL;
}

/* Nothing remains of one that has ended. */
static struct error *add_running(struct target *t, uint32_t id, uint32_t pid, bool thread)
{
	size_t pids = t->pid_count;
	struct error *error = add(t, id, pid, thread);

	if (!error && has_ended(t, t->n - 1)) {
		close(t->pidfds[--t->n]);
		t->alive--;
		error = no_such(id, thread);
	}
	if (error)
		t->pid_count = pids;
	return error;
}

static struct error *add_given(struct target *t, uint32_t id, bool thread)
{
	uint32_t process;

	if (is_among(t->ids, t->n, id))
		return NULL;
	if (proc_status(id, "Tgid:", &process))
		return no_such(id, thread);
	if (!thread && process != id)
		return error_new(ERROR_ARGUMENT,
				 "%" PRIu32 " is a thread of process %" PRIu32 "; give -p %" PRIu32,
				 id, process, process);
	return add_running(t, id, process, thread);
}

struct error *target_add_process(struct target *t, uint32_t pid)
{
	return add_given(t, pid, false);
}

struct error *target_add_thread(struct target *t, uint32_t tid)
{
	return add_given(t, tid, true);
}

static void __attribute__((noreturn))
run_command(const struct target_command *command, int go_fd, int error_fd)
{
	sigset_t none;
	char byte;
	int error;

	sigemptyset(&none);
	/* End of file instead of a byte: the recorder has given up. */
	if (read(go_fd, &byte, 1) != 1)
		_exit(127);
	if (!command->prepare || command->prepare(command->context)) {
		signal(SIGPIPE, SIG_DFL);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execvp(command->argv[0], command->argv);
	}
	error = errno;
	if (write(error_fd, &error, sizeof(error)) != sizeof(error))
		_exit(126);
	_exit(error == ENOENT ? 127 : 126);
}

struct error *target_add_command(struct target *t, const struct target_command *command)
{
	int go[2] = { -1, -1 }, error[2] = { -1, -1 };
	pid_t pid = -1;

	if (!pipe2(go, O_CLOEXEC) && !pipe2(error, O_CLOEXEC))
		pid = fork();
	if (pid < 0) {
		struct error *failure = error_system(errno, "cannot start a process");

		close_pair(error);
		close_pair(go);
		return failure;
	}
	if (!pid) {
		close(go[1]);
		close(error[0]);
		run_command(command, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	t->command = pid;
	t->program = command->argv[0];
	t->go_fd = go[1];
	t->error_fd = error[0];
	return add(t, (uint32_t)pid, (uint32_t)pid, false);
}

static struct error *cannot_run(const struct target *t, int number)
{
	if (t->program[strspn(t->program, "0123456789")])
		return error_system(number, "cannot run %s", t->program);
	return error_system(number, "cannot run %s (a process is given as -p %s)", t->program,
			    t->program);
}

struct error *target_go(struct target *t)
{
	int error = 0;
	ssize_t n;

	if (!t->command)
		return NULL;
	if (write(t->go_fd, "", 1) != 1)
		return cannot_run(t, errno);
	close_fd(&t->go_fd);
	/* A successful exec closes the pipe, and this reads end of file. */
	do
		n = read(t->error_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close_fd(&t->error_fd);
	if (n != sizeof(error))
		return NULL;
	target_wait(t, -1);
	return cannot_run(t, error);
}

static void reap(struct target *t, int flags)
{
	int status;
	pid_t pid;

	if (!t->command || t->reaped)
		return;
	do
		pid = waitpid(t->command, &status, flags);
	while (pid < 0 && errno == EINTR);
	if (pid != t->command)
		return;
	t->reaped = true;
	t->wait_status = status;
}

void target_look(struct target *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->pidfds[i] < 0 || !has_ended(t, i))
			continue;
		if (t->command && t->ids[i] == (uint32_t)t->command)
			reap(t, WNOHANG);
		close_fd(&t->pidfds[i]);
		t->alive--;
	}
}

bool target_has_ended(const struct target *t)
{
	if (!t->n)
		return false;
	return !t->alive || (t->paced && (t->reaped || (t->n > 1 && t->alive == 1)));
}

bool target_wait(struct target *t, int ms)
{
	struct pollfd p = { .fd = -1, .events = POLLIN };

	if (!t->command || t->reaped)
		return true;
	for (size_t i = 0; i < t->n && !t->folders; i++)
		if (t->ids[i] == (uint32_t)t->command)
			p.fd = t->pidfds[i];
	/* Without a pidfd, just sleeps; the caller waits in small pieces then. */
	if (ms >= 0 && poll(&p, 1, ms) == 0 && !t->folders)
		return false;
	reap(t, ms < 0 ? 0 : WNOHANG);
	return t->reaped;
}

void target_ask(struct target *t, int signal)
{
	if (!t->command || t->reaped)
		return;
	kill(t->command, signal);
	kill(t->command, SIGCONT);
}

int target_killed_by(const struct target *t)
{
	return t->reaped && WIFSIGNALED(t->wait_status) ? WTERMSIG(t->wait_status) : 0;
}

int target_exit_status(const struct target *t)
{
	if (!t->reaped)
		return 0;
	if (target_killed_by(t))
		return 128 + target_killed_by(t);
	return WEXITSTATUS(t->wait_status);
}
