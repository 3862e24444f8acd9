/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

/*
 * What each test_*.c needs of cmocka. It ends with UNIT_TESTS(): the array of its tests, which
 * main() in main.c runs. cmocka.h wants the four headers before it.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct unit_tests {
	const struct CMUnitTest *tests;
	size_t count;
	CMFixtureFunction setup, teardown; /* before and after all of them; may be NULL */
};

extern const struct unit_tests unit_tests;

/* After the array come .setup and .teardown, if there are any. */
#define UNIT_TESTS(array, ...)                                                                     \
	const struct unit_tests unit_tests = { .tests = (array),                                   \
					       .count = sizeof(array) / sizeof(*(array)),          \
					       __VA_ARGS__ }

#endif
