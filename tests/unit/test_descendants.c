/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/descendants.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/system/proc.h"
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

/* Both ways to find them agree. */
static size_t find(const uint32_t *pids, size_t n, uint32_t *first)
{
	uint32_t *found, *by_parents;
	size_t count, as_many;

	assert_no_error(descendants_find(pids, n, &found, &count));
	assert_no_error(descendants_by_parents(pids, n, &by_parents, &as_many));
	*first = count ? found[0] : 0;
	assert_int_equal(count, as_many);
	assert_int_equal(*first, count ? by_parents[0] : 0);
	free(found);
	free(by_parents);
	return count;
}

static size_t count(uint32_t pid, uint32_t other)
{
	const uint32_t pids[] = { pid, other };
	uint32_t first;

	return find(pids, other ? 2 : 1, &first);
}

/* What a child of ours finds of us: it does not count, nor do its children. */
static size_t seen_by_a_child(void)
{
	uint32_t self = (uint32_t)getpid();
	pid_t child = fork();
	int status = -1;

	assert_true(child >= 0);
	if (!child) {
		pid_t own = fork();
		size_t n;

		if (!own)
			pause();
		n = count(self, 0);
		kill(own, SIGKILL);
		_exit((int)n);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return (size_t)WEXITSTATUS(status);
}

static void finds_children_of_children(void **state)
{
	uint32_t grandchild, found, middle;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		pause();
		_exit(1);
	}
	middle = (uint32_t)fork_two(&grandchild);
	assert_int_equal(find(&middle, 1, &found), 1);
	assert_int_equal(found, grandchild);
	/* Those that are known already are not found. */
	assert_int_equal(count(middle, grandchild), 0);
	assert_int_equal(count(grandchild, 0), 0);
	assert_int_equal(seen_by_a_child(), 3);
	/* A zombie is no child that runs. */
	assert_int_equal(kill((pid_t)grandchild, SIGKILL), 0);
	while (proc_runs(grandchild, NULL))
		usleep(1000);
	assert_int_equal(count(middle, 0), 0);
	kill(child, SIGKILL);
	kill((pid_t)middle, SIGKILL);
	waitpid(child, NULL, 0);
	waitpid((pid_t)middle, NULL, 0);
}

static bool is_zombie(uint32_t pid)
{
	struct buffer text = { 0 };
	bool zombie;

	assert_int_equal(proc_read(pid, "stat", &text), 0);
	zombie = strstr(buffer_string(&text), ") Z ") != NULL;
	buffer_release(&text);
	return zombie;
}

static void *wait_for_ever(void *argument)
{
	for (;;)
		pause();
	return argument;
}

/* Its first thread is a zombie as long as another one runs. */
static void finds_processes_without_their_first_thread(void **state)
{
	uint32_t leader, found, self = (uint32_t)getpid();
	size_t before = count(self, 0);
	pid_t child = fork();
	pthread_t thread;

	assert_true(child >= 0);
	if (!child) {
		pthread_create(&thread, NULL, wait_for_ever, NULL);
		pthread_exit(NULL);
	}
	leader = (uint32_t)child;
	while (!is_zombie(leader))
		usleep(1000);
	assert_int_equal(find(&self, 1, &found), before + 1);
	assert_int_equal(found, leader);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(finds_processes_without_their_first_thread),
	cmocka_unit_test(finds_children_of_children),
};

UNIT_TESTS(tests);
