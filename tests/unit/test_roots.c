/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/spaces/roots.h"
#include "tests/unit/unit.h"

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

static void children_inherit(void **state)
{
	struct roots r = { 0 };
	int told[2], go[2];
	char byte;
	pid_t pid;

	if (geteuid())
		skip();
	assert_int_equal(pipe(told), 0);
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		byte = chroot("/usr") ? 'n' : 'y';
		if (write(told[1], &byte, 1) != 1 || read(go[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(read(told[0], &byte, 1), 1);
	roots_read(&r, (uint32_t)pid);
	close(go[0]);
	close(go[1]);
	waitpid(pid, NULL, 0);
	if (byte == 'y') {
		assert_string_equal(roots_of(&r, (uint32_t)pid), "/usr");
		roots_fork(&r, (uint32_t)pid, 7);
		assert_string_equal(roots_of(&r, 7), "/usr");
		/* It is gone: what was known stays. */
		roots_read(&r, (uint32_t)pid);
		roots_remove(&r, (uint32_t)pid);
		assert_string_equal(roots_of(&r, (uint32_t)pid), "");
		assert_string_equal(roots_of(&r, 7), "/usr");
		roots_fork(&r, 8, 7);
		assert_string_equal(roots_of(&r, 7), "");
	}
	close(told[0]);
	close(told[1]);
	roots_release(&r);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(ours_is_empty),
	cmocka_unit_test(children_inherit),
};

UNIT_TESTS(tests);
