/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/process_owner.h"
#include "tests/unit/unit.h"

#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/system/patience.h"

#define GROUPS_MAX 1000

static pid_t child;

struct look {
	uid_t uid;
	unsigned long namespaces; /* new ones: CLONE_NEWPID */
	size_t groups;		  /* with long numbers, but for the last one */
	gid_t last;
};

/* False: there may be no such process here. */
static bool start(struct look look)
{
	gid_t list[GROUPS_MAX];
	char ready;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	child = (pid_t)syscall(SYS_clone, look.namespaces | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!child) {
		for (size_t i = 0; i < look.groups; i++)
			list[i] = i + 1 < look.groups ? (gid_t)(1000000000 + i) : look.last;
		if (setgroups(look.groups, list) || setresuid(look.uid, look.uid, look.uid) ||
		    write(ends[1], "r", 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ends[1]);
	if (child > 0)
		assert_int_equal(read(ends[0], &ready, 1), 1);
	close(ends[0]);
	return child > 0;
}

static int end(void **state)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	child = 0;
	return 0;
}

static void other_users_are_told_apart(void **state)
{
	struct process_owner o = { 0 };

	if (geteuid())
		skip();
	assert_true(process_owner_read(&o, (uint32_t)getpid()));
	assert_true(o.own);
	assert_true(start((struct look){ .uid = 65534 }));
	assert_true(process_owner_read(&o, (uint32_t)child));
	assert_false(o.own);
	assert_int_equal(o.user, patience_user(65534, false));
	/* Asked again, of the same open file. */
	assert_true(process_owner_read(&o, (uint32_t)child));
	assert_int_equal(o.user, patience_user(65534, false));
	end(state);
	assert_true(process_owner_read(&o, (uint32_t)getpid()));
	assert_true(o.own);
	process_owner_release(&o);
}

static void who_has_ended_has_no_owner(void **state)
{
	struct process_owner o = { 0 };
	pid_t pid;

	if (geteuid())
		skip();
	assert_true(start((struct look){ 0 }));
	pid = child;
	assert_true(process_owner_read(&o, (uint32_t)pid));
	assert_true(o.own);
	end(state);
	assert_false(process_owner_read(&o, (uint32_t)pid));
	assert_int_equal(o.pid, 0);
	assert_int_equal(o.user, PATIENCE_NOBODY);
	assert_false(process_owner_read(&o, 0));
	process_owner_release(&o);
}

/*
 * Root of a container chooses its groups, and so where what is read of its status ends: within the
 * line of its numbers, say.
 */
static void many_groups_hide_no_container(void **state)
{
	struct look look = { .namespaces = CLONE_NEWPID };

	if (geteuid())
		skip();
	for (look.groups = 300; look.groups < 380; look.groups++)
		for (look.last = 1; look.last < 1000000000; look.last *= 10) {
			struct process_owner o = { 0 };

			if (!start(look))
				skip();
			assert_true(process_owner_read(&o, (uint32_t)child));
			assert_false(o.own);
			assert_int_equal(o.user, patience_user(0, true));
			process_owner_release(&o);
			end(state);
		}
}

#define TEST(name) cmocka_unit_test_teardown(name, end)
static const struct CMUnitTest tests[] = {
	TEST(other_users_are_told_apart),
	TEST(who_has_ended_has_no_owner),
	TEST(many_groups_hide_no_container),
};

UNIT_TESTS(tests);
