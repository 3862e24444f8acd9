/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/roots.h"
#include "tests/unit/unit.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void ours_is_empty(void **state)
{
	struct roots r = { 0 };

	assert_string_equal(roots_of(&r, 1), "");
	roots_read(&r, (uint32_t)getpid());
	roots_read(&r, INT32_MAX);
	assert_string_equal(roots_of(&r, (uint32_t)getpid()), "");
	roots_release(&r);
}

/* A process whose root is another one. */
struct child {
	pid_t pid;
	int go; /* it ends when this is closed */
};

static struct child begin(const char *root)
{
	struct child child;
	int told[2], go[2];
	char byte;

	if (geteuid())
		skip();
	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(go), 0);
	child.pid = fork();
	if (!child.pid) {
		close(go[1]);
		byte = chroot(root) ? 'n' : 'y';
		if (write(told[1], &byte, 1) != 1 || read(go[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(read(told[0], &byte, 1), 1);
	close(told[0]);
	close(told[1]);
	close(go[0]);
	child.go = go[1];
	if (byte == 'y')
		return child;
	close(child.go);
	waitpid(child.pid, NULL, 0);
	skip();
	return child;
}

static void end(const struct child *child)
{
	close(child->go);
	waitpid(child->pid, NULL, 0);
}

static void children_inherit(void **state)
{
	const struct child child = begin("/usr");
	uint32_t pid = (uint32_t)child.pid;
	struct roots r = { 0 };

	roots_read(&r, pid);
	end(&child);
	assert_string_equal(roots_of(&r, pid), "/usr");
	roots_fork(&r, pid, 7);
	assert_string_equal(roots_of(&r, 7), "/usr");
	/* It is gone: what was known stays. */
	roots_read(&r, pid);
	roots_remove(&r, pid);
	assert_string_equal(roots_of(&r, pid), "");
	assert_string_equal(roots_of(&r, 7), "/usr");
	roots_fork(&r, 7, 7);
	assert_string_equal(roots_of(&r, 7), "/usr");
	roots_fork(&r, 8, 7);
	assert_string_equal(roots_of(&r, 7), "");
	roots_release(&r);
}

/* Containers come and go, each with a root of its own. */
static void nothing_stays_of_those_that_went(void **state)
{
	char first[] = "/tmp/test_roots-XXXXXX", path[64], next[64];
	struct roots r = { 0 };
	struct child child;
	size_t before;

	assert_non_null(mkdtemp(first));
	snprintf(path, sizeof(path), "%s", first);
	child = begin(path);
	/* The map has its size after the first. */
	roots_read(&r, (uint32_t)child.pid);
	roots_remove(&r, (uint32_t)child.pid);
	before = mallinfo2().uordblks;
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(next, sizeof(next), "%s-%u", first, i);
		assert_int_equal(rename(path, next), 0);
		memcpy(path, next, sizeof(path));
		roots_read(&r, (uint32_t)child.pid);
		assert_string_equal(roots_of(&r, (uint32_t)child.pid), path);
		roots_remove(&r, (uint32_t)child.pid);
	}
	assert_true(mallinfo2().uordblks < before + 1000);
	end(&child);
	rmdir(path);
	roots_release(&r);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(ours_is_empty),
	cmocka_unit_test(children_inherit),
	cmocka_unit_test(nothing_stays_of_those_that_went),
};

UNIT_TESTS(tests);
