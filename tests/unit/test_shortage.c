/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <pthread.h>

#include "common/shortage.h"
#include "tests/unit/unit.h"

static void test_first_note_stays_until_taken(void **state)
{
	assert_int_equal(shortage_take(), 0);
	shortage_note(EMFILE);
	shortage_note(ENOMEM);
	assert_int_equal(shortage_take(), EMFILE);
	assert_int_equal(shortage_take(), 0);
}

static void test_text(void **state)
{
	assert_string_equal(shortage_text(ENOMEM), "out of memory");
	assert_string_equal(shortage_text(EMFILE), strerror(EMFILE));
}

static void test_facts_about_files_are_no_shortage(void **state)
{
	static const int facts[] = { 0, ENOENT, ENOTDIR, EACCES, EPERM, ELOOP, ENOEXEC, EFBIG };

	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		assert_false(shortage_is(facts[i]));
		shortage_note(facts[i]);
		assert_int_equal(shortage_take(), 0);
	}
}

static void test_allocations(void **state)
{
	int memory;

	assert_ptr_equal(shortage_check(&memory), &memory);
	assert_int_equal(shortage_take(), 0);
	assert_null(shortage_check(NULL));
	assert_int_equal(shortage_take(), ENOMEM);
}

static void *note_and_take(void *context)
{
	shortage_note(EIO);
	*(int *)context = shortage_take();
	shortage_note(EIO);
	return NULL;
}

static void test_threads_have_their_own(void **state)
{
	pthread_t thread;
	int taken = 0;

	shortage_note(EMFILE);
	assert_int_equal(pthread_create(&thread, NULL, note_and_take, &taken), 0);
	pthread_join(thread, NULL);
	assert_int_equal(taken, EIO);
	assert_int_equal(shortage_take(), EMFILE);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_first_note_stays_until_taken),
	cmocka_unit_test(test_text),
	cmocka_unit_test(test_facts_about_files_are_no_shortage),
	cmocka_unit_test(test_allocations),
	cmocka_unit_test(test_threads_have_their_own),
};

UNIT_TESTS(tests);
