/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/target.h"

#include "record/proc.h"

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
	free(t->pids);
	target_init(t);
}

static int open_process(struct target *t, uint32_t pid)
{
	char folder[32];
	int fd = -1;

	if (!t->folders)
		fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (fd < 0 && !t->folders && (errno == ENOSYS || errno == EPERM))
		t->folders = true;
	if (t->folders) {
		snprintf(folder, sizeof(folder), "/proc/%" PRIu32, pid);
		fd = open(folder, O_DIRECTORY | O_PATH | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

/* A zombie has ended: nothing will be sampled any more. */
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

static int add(struct target *t, uint32_t pid)
{
	int *pidfds = reallocarray(t->pidfds, t->n + 1, sizeof(*pidfds));
	uint32_t *pids;
	int fd;

	if (!pidfds)
		return -ENOMEM;
	t->pidfds = pidfds;
	pids = reallocarray(t->pids, t->n + 1, sizeof(*pids));
	if (!pids)
		return -ENOMEM;
	t->pids = pids;
	fd = open_process(t, pid);
	if (fd < 0)
		return fd;
	t->pidfds[t->n] = fd;
	t->pids[t->n] = pid;
	t->n++;
	t->alive++;
	return 0;
}

int target_add_process(struct target *t, uint32_t pid, uint32_t *process)
{
	int status;

	*process = pid;
	for (size_t i = 0; i < t->n; i++)
		if (t->pids[i] == pid)
			return 0;
	status = proc_status(pid, "Tgid:", process);
	if (status)
		return -ESRCH;
	if (*process != pid)
		return -EINVAL;
	status = add(t, pid);
	if (!status && has_ended(t, t->n - 1))
		status = -ESRCH;
	return status;
}

static void __attribute__((noreturn))
run_command(char **argv, int go_fd, int error_fd, void (*prepare)(void))
{
	sigset_t none;
	char byte;
	int error;

	sigemptyset(&none);
	/* Without a byte the recorder has given up. */
	if (read(go_fd, &byte, 1) != 1)
		_exit(127);
	if (prepare)
		prepare();
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	error = errno;
	if (write(error_fd, &error, sizeof(error)) != sizeof(error))
		_exit(126);
	_exit(error == ENOENT ? 127 : 126);
}

int target_add_command(struct target *t, char **argv, void (*prepare)(void))
{
	int go[2], error[2], status;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(error, O_CLOEXEC)) {
		status = -errno;
		goto close_go;
	}
	pid = fork();
	if (pid < 0) {
		status = -errno;
		goto close_error;
	}
	if (!pid) {
		close(go[1]);
		close(error[0]);
		run_command(argv, go[0], error[1], prepare);
	}
	close(go[0]);
	close(error[1]);
	t->command = pid;
	t->go_fd = go[1];
	t->error_fd = error[0];
	return add(t, (uint32_t)pid);
close_error:
	close(error[0]);
	close(error[1]);
close_go:
	close(go[0]);
	close(go[1]);
	return status;
}

int target_go(struct target *t)
{
	int error = 0;
	ssize_t n;

	if (!t->command)
		return 0;
	if (write(t->go_fd, "", 1) != 1)
		return -errno;
	close_fd(&t->go_fd);
	/* The pipe closes without a word when the exec succeeds. */
	do
		n = read(t->error_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close_fd(&t->error_fd);
	if (n != sizeof(error))
		return 0;
	target_wait(t, -1);
	return -error;
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
		if (t->command && t->pids[i] == (uint32_t)t->command)
			reap(t, WNOHANG);
		close_fd(&t->pidfds[i]);
		t->alive--;
	}
}

bool target_wait(struct target *t, int ms)
{
	struct pollfd p = { .fd = -1, .events = POLLIN };

	if (!t->command || t->reaped)
		return true;
	for (size_t i = 0; i < t->n && !t->folders; i++)
		if (t->pids[i] == (uint32_t)t->command)
			p.fd = t->pidfds[i];
	/* Without a pidfd this just sleeps for the time; it is asked for in small pieces. */
	if (ms >= 0 && poll(&p, 1, ms) == 0 && !t->folders)
		return false;
	reap(t, ms < 0 ? 0 : WNOHANG);
	return t->reaped;
}

int target_exit_status(const struct target *t)
{
	if (!t->reaped)
		return 0;
	if (WIFSIGNALED(t->wait_status))
		return 128 + WTERMSIG(t->wait_status);
	return WEXITSTATUS(t->wait_status);
}
