/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/profile/shape.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/*
 * Walks a stack of one-letter functions (capitals are kernel frames, digits those of scripts) and
 * writes what is kept; NULL: the stack does not count.
 */
static const char *walk(const struct shape *shape, const char *stack, char *room)
{
	struct shape_state state = { .node = PRF_NONE };
	size_t n = 0;

	for (const char *c = stack; *c; c++) {
		char name[2] = { *c, 0 };
		struct profile_frame frame = { .name = name, .linkage_name = "", .file = "" };

		if (*c >= 'A' && *c <= 'Z')
			frame.kind = PROFILE_FRAME_KERNEL;
		if (*c >= '0' && *c <= '9')
			frame.kind = *c == '0' ? PROFILE_FRAME_JIT : PROFILE_FRAME_SCRIPT;
		if (shape_takes(shape, &state, &frame, shape_match(shape, &frame), (uint32_t)n))
			room[n++] = *c;
	}
	room[n] = 0;
	return shape_keeps(shape, &state) ? room : NULL;
}

static const char *with_regex(const regex_t **use, struct shape *shape, const char *regex,
			      const char *stack, char *room)
{
	regex_t compiled;
	const char *kept;

	assert_int_equal(regcomp(&compiled, regex, REG_EXTENDED | REG_NOSUB), 0);
	*use = &compiled;
	kept = walk(shape, stack, room);
	*use = NULL;
	regfree(&compiled);
	return kept;
}

static void test_everything(void **state)
{
	struct shape shape = { 0 };
	char room[16];

	assert_string_equal(walk(&shape, "abcD", room), "abcD");
	assert_string_equal(walk(&shape, "", room), "");
}

static void test_kinds(void **state)
{
	struct shape shape = { .no_kernel = true };
	char room[16];

	assert_string_equal(walk(&shape, "abCD", room), "ab");
	shape = (struct shape){ .no_user = true };
	assert_string_equal(walk(&shape, "abCD", room), "CD");
	shape = (struct shape){ .max_depth = 2 };
	assert_string_equal(walk(&shape, "abCD", room), "ab");
	shape = (struct shape){ .script_only = true };
	assert_string_equal(walk(&shape, "a1b20cD", room), "120");
	shape = (struct shape){ .script_only = true, .max_depth = 2 };
	assert_string_equal(walk(&shape, "a1b20cD", room), "12");
}

static void test_focus(void **state)
{
	struct shape shape = { 0 };
	char room[16];

	assert_string_equal(with_regex(&shape.focus, &shape, "b", "abc", room), "abc");
	assert_null(with_regex(&shape.focus, &shape, "b", "acd", room));
}

static void test_hide(void **state)
{
	struct shape shape = { 0 };
	char room[16];

	assert_string_equal(with_regex(&shape.hide, &shape, "[bd]", "abcde", room), "ace");
	assert_string_equal(with_regex(&shape.hide, &shape, ".", "abc", room), "");
}

static void test_root(void **state)
{
	struct shape shape = { 0 };
	char room[16];

	assert_string_equal(with_regex(&shape.root, &shape, "b", "abcb", room), "bcb");
	assert_null(with_regex(&shape.root, &shape, "b", "acd", room));
}

static void test_caller_of(void **state)
{
	struct shape shape = { 0 };
	char room[16];

	assert_string_equal(with_regex(&shape.caller_of, &shape, "b", "abcb", room), "ab");
	assert_null(with_regex(&shape.caller_of, &shape, "b", "acd", room));
}

/* A frame that is hidden still says that the stack is in focus. */
static void test_together(void **state)
{
	struct shape shape = { 0 };
	regex_t focus;
	char room[16];

	assert_int_equal(regcomp(&focus, "b", REG_EXTENDED | REG_NOSUB), 0);
	shape.focus = &focus;
	assert_string_equal(with_regex(&shape.hide, &shape, "b", "abc", room), "ac");
	assert_string_equal(with_regex(&shape.caller_of, &shape, "a", "abc", room), "a");
	regfree(&focus);
}

static void test_depth_is_bounded(void **state)
{
	static char stack[3 * SHAPE_DEPTH_MAX + 1], room[sizeof(stack)];
	struct shape shape = { 0 };

	memset(stack, 'a', sizeof(stack) - 1);
	assert_int_equal(strlen(walk(&shape, stack, room)), SHAPE_DEPTH_MAX);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_everything), cmocka_unit_test(test_kinds),
	cmocka_unit_test(test_focus),	   cmocka_unit_test(test_hide),
	cmocka_unit_test(test_root),	   cmocka_unit_test(test_caller_of),
	cmocka_unit_test(test_together),   cmocka_unit_test(test_depth_is_bounded),
};

UNIT_TESTS(tests);
