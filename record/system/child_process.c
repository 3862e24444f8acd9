/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

void child_process_begin(int socket, const char *name, enum privileges_use use)
{
	struct rlimit limit;
	const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE };
	sigset_t all;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	sigfillset(&all);
	/* Blocked, they would kill it without the handlers that sanitizers have. */
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&all, faults[i]);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	/* Else it would answer questions that a file of the recorder has. */
	if (dup2(socket, CHILD_PROCESS_SOCKET) < 0)
		_exit(1);
	close_range(CHILD_PROCESS_SOCKET + 1, ~0u, 0);
	setpriority(PRIO_PROCESS, 0, -19);
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	privileges_drop_in_thread(use);
}

uint64_t child_process_cpu_ns(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_ns(clock);
}
