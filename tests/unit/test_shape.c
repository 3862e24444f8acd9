/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/merge/shape.h"
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

/* NULL: the stack does not count. */
static void expect(const regex_t **use, struct shape *shape, const char *const how[3])
{
	char room[16];
	const char *kept = with_regex(use, shape, how[0], how[1], room);

	if (how[2])
		assert_string_equal(kept, how[2]);
	else
		assert_null(kept);
}

#define EXPECT(field, ...) expect(&shape.field, &shape, (const char *const[3]){ __VA_ARGS__ })

static void test_expressions(void **state)
{
	struct shape shape = { 0 };

	EXPECT(focus, "b", "abc", "abc");
	EXPECT(focus, "b", "acd", NULL);
	EXPECT(hide, "[bd]", "abcde", "ace");
	EXPECT(hide, ".", "abc", "");
	EXPECT(root, "b", "abcb", "bcb");
	EXPECT(root, "b", "acd", NULL);
	EXPECT(caller_of, "b", "abcb", "ab");
	EXPECT(caller_of, "b", "acd", NULL);
}

/* A frame that is hidden still says that the stack is in focus. */
static void test_together(void **state)
{
	struct shape shape = { 0 };
	regex_t focus;

	assert_int_equal(regcomp(&focus, "b", REG_EXTENDED | REG_NOSUB), 0);
	shape.focus = &focus;
	EXPECT(hide, "b", "abc", "ac");
	EXPECT(caller_of, "a", "abc", "a");
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
	cmocka_unit_test(test_everything),	 cmocka_unit_test(test_kinds),
	cmocka_unit_test(test_expressions),	 cmocka_unit_test(test_together),
	cmocka_unit_test(test_depth_is_bounded),
};

UNIT_TESTS(tests);
