/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/output/progress.h"
#include "tests/unit/unit.h"

/* What does not come in this time never comes. */
#define PATIENCE_MS 60000

#define HOUR_NS UINT64_C(3600000000000)

/* Standard error, which is a terminal meanwhile. */
struct terminal {
	int other_end, before;
	char text[4096];
	size_t size;
};

static void open_terminal(struct terminal *t)
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

static void close_terminal(struct terminal *t)
{
	dup2(t->before, STDERR_FILENO);
	close(t->before);
	close(t->other_end);
}

/* Waits until the text is on the terminal. */
static void expect(struct terminal *t, const char *text)
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

static void parts_are_shown(void **state)
{
	struct progress_parts p;
	struct terminal t;

	open_terminal(&t);
	progress_parts_init(&p, false);
	p.first_ns = 0;
	progress_parts_show(&p, "files", 1, 4);
	expect(&t, "finding names: files, 1 of 4");
	progress_parts_show(&p, "tables", 2, 8);
	expect(&t, "finding names: tables, 2 of 8");
	t.size = 0;
	memset(t.text, 0, sizeof(t.text));
	progress_parts_end(&p);
	expect(&t, "\r\033[K");
	close_terminal(&t);
}

/* What is done at once leaves nothing on the terminal, and neither does what is to be quiet. */
static void short_work_is_silent(void **state)
{
	struct progress_parts p;
	struct terminal t;

	open_terminal(&t);
	progress_parts_init(&p, false);
	p.first_ns = HOUR_NS;
	for (int i = 0; i < 3; i++) {
		progress_parts_show(&p, "files", 0, 4);
		progress_parts_end(&p);
	}
	progress_parts_end(&p);
	progress_parts_init(&p, true);
	progress_parts_show(&p, "files", 0, 4);
	assert_false(p.runs);
	progress_parts_end(&p);
	assert_int_equal(write(STDERR_FILENO, ".", 1), 1);
	expect(&t, ".");
	close_terminal(&t);
	assert_string_equal(t.text, ".");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(parts_are_shown),
	cmocka_unit_test(short_work_is_silent),
};

UNIT_TESTS(tests);
