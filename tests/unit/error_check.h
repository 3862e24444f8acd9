/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_ERROR_CHECK_H
#define TESTS_UNIT_ERROR_CHECK_H

/* Errors in tests of cmocka: each check ends the error. */

#include "common/error.h"
#include "tests/unit/unit.h"

static inline void check_no_error(struct error *error, const char *file, int line)
{
	if (error)
		print_error("%s\n", error->text);
	_assert_true(!error, "there is no error", file, line);
}

static inline void check_error_kind(struct error *error, enum error_kind kind, const char *file,
				    int line)
{
	_assert_true(error != NULL, "there is an error", file, line);
	_assert_int_equal((uint64_t)error->kind, (uint64_t)kind, file, line);
	error_free(error);
}

static inline void check_error(struct error *error, enum error_kind kind, const char *text,
			       const char *file, int line)
{
	_assert_true(error != NULL, "there is an error", file, line);
	_assert_string_equal(error->text, text, file, line);
	check_error_kind(error, kind, file, line);
}

#define assert_no_error(error) check_no_error(error, __FILE__, __LINE__)
#define assert_error_kind(error, kind) check_error_kind(error, kind, __FILE__, __LINE__)
#define assert_error(error, kind, text) check_error(error, kind, text, __FILE__, __LINE__)

#endif
