/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "common/error.h"
#include "tests/unit/unit.h"

#include <errno.h>

static void test_says_what_and_where(void **state)
{
	struct error *e = error_at(ERROR_CORRUPT, 0x1f00, "block %d: wrong checksum", 12);

	assert_int_equal(e->kind, ERROR_CORRUPT);
	assert_int_equal(e->os_error, 0);
	assert_true(e->position == 0x1f00);
	assert_string_equal(e->text, "block 12: wrong checksum at 0x1f00");
	error_free(e);
	e = error_new(ERROR_UNSUPPORTED, "version %u", 9u);
	assert_int_equal(e->kind, ERROR_UNSUPPORTED);
	assert_true(e->position == ERROR_NOWHERE);
	assert_string_equal(e->text, "version 9");
	error_free(e);
}

static void test_system_call(void **state)
{
	struct error *e = error_system(-ENOENT, "cannot open %s", "a");

	assert_int_equal(e->kind, ERROR_SYSTEM);
	assert_string_equal(e->text, "cannot open a: No such file or directory");
	assert_true(error_is(e, ENOENT));
	assert_false(error_is(e, EPERM));
	assert_false(error_is(NULL, EPERM));
	error_free(e);
	e = error_system(EPERM, "x");
	assert_true(error_is(e, EPERM));
	error_free(e);
}

static void test_prefix_keeps_the_rest(void **state)
{
	struct error *e = error_at(ERROR_TRUNCATED, 7, "ends early");

	e = error_prefix(e, "%s", "trace.prf");
	assert_string_equal(e->text, "trace.prf: ends early at 0x7");
	assert_int_equal(e->kind, ERROR_TRUNCATED);
	assert_true(e->position == 7);
	error_free(e);
	assert_null(error_prefix(NULL, "nothing failed"));
}

static void test_no_memory(void **state)
{
	struct error *e = error_memory();

	assert_int_equal(e->kind, ERROR_MEMORY);
	assert_true(error_is(e, ENOMEM));
	assert_ptr_equal(error_prefix(e, "x"), e);
	assert_ptr_equal(error_system(ENOMEM, "x"), e);
	error_free(e);
	error_free(e); /* is never given back */
	assert_string_equal(error_memory()->text, "out of memory");
}

static void test_ignore(void **state)
{
	assert_false(error_ignore(NULL));
	assert_true(error_ignore(error_memory()));
	assert_true(error_ignore(error_new(ERROR_LIMIT, "too many")));
	error_free(NULL);
}

static void test_copies(void **state)
{
	struct error *e = error_at(ERROR_CORRUPT, 7, "a rule"), *copy = error_copy(e);

	error_free(e);
	assert_int_equal(copy->kind, ERROR_CORRUPT);
	assert_true(copy->position == 7);
	assert_string_equal(copy->text, "a rule at 0x7");
	error_free(copy);
	assert_null(error_copy(NULL));
	e = error_memory();
	assert_ptr_equal(error_copy(e), e);
}

static void test_kinds_have_names(void **state)
{
	for (int kind = ERROR_MEMORY; kind <= ERROR_FAILED; kind++)
		assert_string_not_equal(error_kind_name((enum error_kind)kind), "unknown error");
	assert_string_equal(error_kind_name((enum error_kind)(ERROR_FAILED + 1)), "unknown error");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_copies),
	cmocka_unit_test(test_kinds_have_names),
	cmocka_unit_test(test_says_what_and_where),
	cmocka_unit_test(test_system_call),
	cmocka_unit_test(test_prefix_keeps_the_rest),
	cmocka_unit_test(test_no_memory),
	cmocka_unit_test(test_ignore),
};

UNIT_TESTS(tests);
