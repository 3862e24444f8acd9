/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_IN_CHILD_H
#define TESTS_UNIT_IN_CHILD_H

#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

/* Runs `check` in a child, whose rights it may give up: nothing brings them back. A wait status. */
static int in_child(int (*check)(void))
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(check());
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

#endif
