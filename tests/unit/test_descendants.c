/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/descendants.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/error_check.h"

/* Forks a child that forks one, which says its number; both wait to be killed. */
static pid_t fork_two(uint32_t *grandchild)
{
	int said[2];
	pid_t child;

	assert_int_equal(pipe(said), 0);
	child = fork();
	if (!child) {
		uint32_t pid;

		if (!fork()) {
			pid = (uint32_t)getpid();
			if (write(said[1], &pid, sizeof(pid)) != sizeof(pid))
				_exit(1);
		}
		pause();
		_exit(1);
	}
	assert_int_equal(read(said[0], grandchild, sizeof(*grandchild)), sizeof(*grandchild));
	close(said[0]);
	close(said[1]);
	return child;
}

static size_t count(uint32_t pid, uint32_t other)
{
	const uint32_t pids[] = { pid, other };
	uint32_t *found;
	size_t n;

	assert_no_error(descendants_find(pids, other ? 2 : 1, &found, &n));
	free(found);
	return n;
}

static void finds_children_of_children(void **state)
{
	uint32_t grandchild, *found, middle;
	pid_t child = fork();
	size_t n;

	assert_true(child >= 0);
	if (!child) {
		pause();
		_exit(1);
	}
	middle = (uint32_t)fork_two(&grandchild);
	assert_no_error(descendants_find(&middle, 1, &found, &n));
	assert_int_equal(n, 1);
	assert_int_equal(found[0], grandchild);
	free(found);
	/* Those that are known already are not found. */
	assert_int_equal(count(middle, grandchild), 0);
	assert_int_equal(count(grandchild, 0), 0);
	/* Of our own parent we are a child that does not count, nor do ours. */
	assert_int_equal(count((uint32_t)getppid(), 0),
			 count((uint32_t)getppid(), (uint32_t)getpid()) - 3);
	/* A zombie is no child that runs. */
	kill((pid_t)grandchild, SIGKILL);
	while (count(middle, 0))
		usleep(1000);
	kill(child, SIGKILL);
	kill((pid_t)middle, SIGKILL);
	waitpid(child, NULL, 0);
	waitpid((pid_t)middle, NULL, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(finds_children_of_children),
};

UNIT_TESTS(tests);
