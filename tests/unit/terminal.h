/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_TERMINAL_H
#define TESTS_UNIT_TERMINAL_H

/* A terminal in place of standard error, for what is shown there only. */

#include "tests/unit/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What does not come in this time never comes. */
#define PATIENCE_MS 60000

/* Standard error, which is a terminal meanwhile. */
struct terminal {
	int other_end, before;
	char text[4096];
	size_t size;
};

static inline void terminal_open(struct terminal *t)
{
	int fd;

	*t = (struct terminal){ .other_end = posix_openpt(O_RDWR | O_NOCTTY) };
	assert_true(t->other_end >= 0);
	assert_int_equal(grantpt(t->other_end), 0);
	assert_int_equal(unlockpt(t->other_end), 0);
	fd = open(ptsname(t->other_end), O_RDWR | O_NOCTTY);
	assert_true(fd >= 0);
	t->before = dup(STDERR_FILENO);
	assert_true(t->before >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	close(fd);
}

static inline void terminal_close(struct terminal *t)
{
	dup2(t->before, STDERR_FILENO);
	close(t->before);
	close(t->other_end);
}

/* Waits until the text is on the terminal. */
static inline void terminal_expect(struct terminal *t, const char *text)
{
	while (!strstr(t->text, text)) {
		struct pollfd ready = { .fd = t->other_end, .events = POLLIN };
		ssize_t n;

		assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
		n = read(t->other_end, t->text + t->size, sizeof(t->text) - 1 - t->size);
		assert_true(n > 0);
		t->size += (size_t)n;
	}
}

#endif
