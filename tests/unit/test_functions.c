/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>

#include "report/tables/functions.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

#define FRAME(text, from, where)                                                                   \
	{                                                                                          \
		.name = text, .linkage_name = "", .file = from, .line = 7, .object = where         \
	}

static const struct profile_frame frames[] = {
	FRAME("f", "", 0),
	FRAME("f", "a.c", 0),
	FRAME("f", "b.c", 0),
	FRAME("f", "a.c", 1),
	{ .name = "f", .linkage_name = "", .file = "a.c", .object = PRF_NONE, .inlined = true },
};
static const struct profile_object objects[] = { { NULL, "x", "" }, { NULL, "y", "" } };
static const struct profile profile = {
	.frames = frames,
	.frame_count = 5,
	.objects = objects,
	.object_count = 2,
};

static void expect(unsigned int keys, size_t count, const uint32_t expected[5])
{
	struct functions f = { .keys = keys };
	uint32_t *of_frame;

	assert_no_error(functions_add(&f, &profile, &of_frame));
	assert_int_equal(f.count, count);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(of_frame[i], expected[i]);
	free(of_frame);
	functions_release(&f);
}

static void keys_tell_functions_apart(void **state)
{
	expect(0, 2, (uint32_t[]){ 0, 0, 0, 0, 1 });
	expect(FUNCTIONS_BY_OBJECT, 3, (uint32_t[]){ 0, 0, 0, 1, 2 });
	expect(FUNCTIONS_BY_FILE, 4, (uint32_t[]){ 0, 1, 2, 1, 3 });
	expect(FUNCTIONS_BY_FILE | FUNCTIONS_BY_OBJECT, 5, (uint32_t[]){ 0, 1, 2, 3, 4 });
}

static void the_first_known_file_counts(void **state)
{
	struct functions f = { 0 };
	uint32_t *of_frame;

	assert_no_error(functions_add(&f, &profile, &of_frame));
	assert_string_equal(f.list[0].file, "a.c");
	assert_int_equal(f.list[0].line, 7);
	assert_string_equal(f.list[0].object, "x");
	assert_true(f.list[1].inlined);
	assert_string_equal(f.list[1].object, "");
	free(of_frame);
	functions_release(&f);
}

static void two_profiles_share_functions(void **state)
{
	struct functions f = { 0 };
	uint32_t *first, *second;

	assert_no_error(functions_add(&f, &profile, &first));
	assert_no_error(functions_add(&f, &profile, &second));
	assert_int_equal(f.count, 2);
	assert_memory_equal(first, second, 5 * sizeof(*first));
	free(first);
	free(second);
	functions_release(&f);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(keys_tell_functions_apart),
	cmocka_unit_test(the_first_known_file_counts),
	cmocka_unit_test(two_profiles_share_functions),
};

UNIT_TESTS(tests);
