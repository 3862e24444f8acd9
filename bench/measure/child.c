/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/child.h"

#include "bench/measure/reference.h"
#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static double timeval_ns(struct timeval t)
{
	return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

static int start(const struct child_options *options, int *pid)
{
	const char *out = options->stdout_path ? options->stdout_path : "/dev/null";
	const char *err = options->stderr_path ? options->stderr_path : "/dev/null";
	posix_spawn_file_actions_t actions;
	int status;

	if (posix_spawn_file_actions_init(&actions))
		return -1;
	status = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (!status && !options->inherit)
		status = posix_spawn_file_actions_addopen(&actions, 1, out,
							  O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (!status && !options->inherit)
		status = posix_spawn_file_actions_addopen(&actions, 2, err,
							  O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (!status)
		status = posix_spawnp(pid, options->arguments[0], &actions, NULL,
				      (char *const *)options->arguments,
				      options->environment ? options->environment : environ);
	posix_spawn_file_actions_destroy(&actions);
	errno = status;
	return status ? -1 : 0;
}

static int wait_for(int pid, struct child_cost *cost)
{
	struct rusage usage;
	char task[16];
	siginfo_t ended;
	int status;

	/* It has ended, and as long as nobody takes note of that it is in /proc. */
	while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) < 0)
		if (errno != EINTR)
			return -1;
	snprintf(task, sizeof(task), "%d", pid);
	cost->waited_ns = reference_waited_ns(task);
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return -1;
	cost->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	cost->user_ns = timeval_ns(usage.ru_utime);
	cost->system_ns = timeval_ns(usage.ru_stime);
	cost->peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
	return 0;
}

uint64_t child_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (uint64_t)(timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime));
}

int child_run(const struct child_options *options, struct child_cost *cost)
{
	uint64_t began = clock_ns(CLOCK_MONOTONIC_RAW);
	int pid, status;

	if (start(options, &pid))
		return -1;
	status = wait_for(pid, cost);
	cost->elapsed_ns = (double)(clock_ns(CLOCK_MONOTONIC_RAW) - began);
	return status;
}

void child_use_one_cpu(void)
{
	cpu_set_t all, one;
	int cpu = CPU_SETSIZE - 1;

	if (sched_getaffinity(0, sizeof(all), &all))
		return; /* more than a thousand CPUs: noisier, but no less true */
	while (cpu > 0 && !CPU_ISSET(cpu, &all))
		cpu--;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

bool child_exists(const char *program)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	if (strchr(program, '/'))
		return !access(program, X_OK);
	while (path && *path) {
		size_t length = strcspn(path, ":");

		if (snprintf(file, sizeof(file), "%.*s/%s", (int)length, path, program) <
			    (int)sizeof(file) &&
		    !access(file, X_OK))
			return true;
		path += length + (path[length] == ':');
	}
	return false;
}

bool child_self(char *path, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", path, size);

	if (length < 0 || (size_t)length == size)
		return false;
	path[length] = 0;
	return true;
}
