/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <linux/bpf.h>

#include "bpf/tasks/waits.bpf.h"
#include "tests/unit/unit.h"

/* A wait that began after it was looked at is not the one that is taken. */
static void test_taken_once(void **state)
{
	struct wait wait = { .start_ns = 5 };
	uint64_t start = wait_start(&wait);

	assert_true(take_wait(&wait, start));
	assert_false(take_wait(&wait, start));
	assert_int_equal(wait.start_ns, 0);
	assert_false(take_wait(&wait, wait_start(&wait)));
	wait.start_ns = 9;
	assert_false(take_wait(&wait, start));
	assert_int_equal(wait.start_ns, 9);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_taken_once),
};

UNIT_TESTS(tests);
