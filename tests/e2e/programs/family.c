/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * family CHILDREN MS: forks CHILDREN processes one after the other. Each names itself
 * "child-N", burns MS milliseconds of CPU time in child_work() and exits; every third one
 * execs this program again, which then burns in exec_work(); every sixth one from another thread
 * than its first.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burning.h"

#define CLOCK CLOCK_PROCESS_CPUTIME_ID

void child_work(uint64_t until);
void exec_work(uint64_t until);

BURN(child_work, CLOCK)
BURN(exec_work, CLOCK)

static void *exec_again(void *ms)
{
	execl("/proc/self/exe", "family", "0", (char *)ms, (char *)NULL);
	_exit(1);
}

static void exec_from_another_thread(char *ms)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, exec_again, ms))
		_exit(1);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	static char usual[] = "10";
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 10;
	uint64_t ms = argc > 2 ? strtoull(argv[2], NULL, 10) : 10;

	if (!n) {
		exec_work(clock_ns(CLOCK) + ms * 1000000);
		return 0;
	}
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid) {
			char name[16];

			if (i % 6 == 5)
				exec_from_another_thread(argc > 2 ? argv[2] : usual);
			if (i % 3 == 2)
				exec_again(argc > 2 ? argv[2] : usual);
			snprintf(name, sizeof(name), "child-%ld", i);
			prctl(PR_SET_NAME, name);
			child_work(clock_ns(CLOCK) + ms * 1000000);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
