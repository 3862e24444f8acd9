/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_CHILD_FIXTURE_H
#define TESTS_UNIT_CHILD_FIXTURE_H

/* Children that work for the recorder: see record/system/child_process.h. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/system/proc.h"
#include "tests/unit/unit.h"

/*
 * The last child of this process, since those of earlier tests may not have been waited for; the
 * last that is called so, if a name is given: it gets it a moment after fork(). 0: there is none.
 */
static inline pid_t child_called(const char *name)
{
	char path[96], comm[16];
	int pid, found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)syscall(SYS_gettid));
	f = fopen(path, "r");
	assert_non_null(f);
	while (fscanf(f, "%d", &pid) == 1)
		if (!name || (!proc_comm((uint32_t)pid, (uint32_t)pid, comm, sizeof(comm)) &&
			      !strcmp(comm, name)))
			found = pid;
	fclose(f);
	return found;
}

/* A process that is stopped answers as a file or memory does that is silent. */
static inline pid_t child_silence(const char *name)
{
	pid_t pid = child_called(name);
	int status;

	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

#endif
