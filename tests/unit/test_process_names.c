/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/process_names.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/error_check.h"

/* The tests of another build may run at the same time. */
static const char *own_name(void)
{
	static char name[16];

	snprintf(name, sizeof(name), "names %u", (unsigned int)getpid());
	return name;
}

static void finds_a_process_by_its_comm(void **state)
{
	const char *name = own_name();
	uint32_t *pids = NULL;
	size_t n = 0;
	int named[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(named), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_NAME, name);
		if (write(named[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(named[0], &byte, 1), 1);
	assert_no_error(process_names_find(name, &pids, &n));
	assert_int_equal(n, 1);
	assert_int_equal(pids[0], pid);
	/* What is found is added to what was there. */
	assert_no_error(process_names_find(name, &pids, &n));
	assert_int_equal(n, 2);
	kill(pid, SIGKILL);
	/* As a zombie it still has its name. */
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_no_error(process_names_find(name, &pids, &n));
	assert_int_equal(n, 2);
	waitpid(pid, NULL, 0);
	assert_no_error(process_names_find(name, &pids, &n));
	assert_int_equal(n, 2);
	free(pids);
	close(named[0]);
	close(named[1]);
}

static void does_not_find_itself(void **state)
{
	uint32_t *pids = NULL;
	size_t n = 0;

	prctl(PR_SET_NAME, own_name());
	assert_no_error(process_names_find(own_name(), &pids, &n));
	assert_int_equal(n, 0);
	free(pids);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(finds_a_process_by_its_comm),
	cmocka_unit_test(does_not_find_itself),
};

UNIT_TESTS(tests);
