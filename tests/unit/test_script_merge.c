/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/script_merge.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi/script.h"

struct merging {
	struct script_merged merged[SCRIPT_MERGE_MAX];
	enum script_match match;
	bool keep;
	/* At the end, as a sample is without a size of its own. */
	union {
		struct sample sample;
		__u64 words[sizeof(struct sample) / 8 + MAX_USER_FRAMES + 2 * MAX_SCRIPT_FRAMES];
	};
};

/*
 * Merges two stacks, leaf first. Native: E is the evaluation loop, other letters are other frames.
 * P is another function of its, M code that is made at run time. The list: a letter is a frame, '.'
 * after it says that it is an entry, '.' alone that there is only an entry, '|' that the native
 * stack begins there, '!' that the frame before it is of a function without one. The merged stack
 * is in the same letters.
 */
static const char *merge(struct merging *m, const char *native, const char *list)
{
	static char text[2 * SCRIPT_MERGE_MAX + 1];
	struct sample *s = &m->sample;
	struct script_frame *scripts;
	size_t n = 0, length;

	s->user_frames = s->script_frames = 0;
	for (const char *at = native; *at; at++)
		s->frames[s->user_frames++] = (__u64)*at | (*at == 'E' ? FRAME_EVALUATES : 0) |
					      (*at == 'P' ? FRAME_LOOP_PART : 0) |
					      (at > native && at[-1] == 'M' ? FRAME_GUESSED : 0);
	scripts = (struct script_frame *)(s->frames + s->user_frames);
	for (; *list; list++) {
		if (*list == '!')
			scripts[n - 1].code |= SCRIPT_FRAMELESS;
		else if (*list == '|')
			scripts[n++] = (struct script_frame){ .code = SCRIPT_BASE };
		else if (*list != '.')
			scripts[n++] = (struct script_frame){ .code = (__u64)*list };
		else if (n && !(scripts[n - 1].code & SCRIPT_ENTRY) && list[-1] != '.')
			scripts[n - 1].code |= SCRIPT_ENTRY;
		else
			scripts[n++] = (struct script_frame){ .code = SCRIPT_ENTRY };
	}
	s->script_frames = (__u16)n;
	length = script_merge(s, m->keep, m->merged, &m->match);
	for (size_t i = 0; i < length; i++)
		text[i] = (char)(m->merged[i].script ? m->merged[i].script->code & SCRIPT_CODE
						     : m->merged[i].native & FRAME_ADDRESS);
	text[length] = 0;
	return text;
}

#define STACKS(...) ((const char *const[3]){ __VA_ARGS__ })

/* Native stack, list, merged stack. */
static void expect(struct merging *m, const char *const stacks[3], enum script_match match)
{
	assert_string_equal(merge(m, stacks[0], stacks[1]), stacks[2]);
	assert_int_equal(m->match, match);
}

static void each_loop_has_its_frames(void **state)
{
	struct merging m = { 0 };

	/* One frame each, and several for one loop. */
	expect(&m, STACKS("xEyEz", "a.b.", "xaybz"), SCRIPT_MATCHED);
	expect(&m, STACKS("xEyEz", "abc.de.", "xabcydez"), SCRIPT_MATCHED);
	assert_true(m.merged[3].replaces);
	assert_false(m.merged[2].replaces);
	m.keep = true;
	assert_string_equal(merge(&m, "xEyEz", "abc.de."), "xabcEydeEz");
}

static void a_loop_without_a_frame_is_at_the_leaf(void **state)
{
	struct merging m = { 0 };

	expect(&m, STACKS("xEyEz", "ab.", "xEyabz"), SCRIPT_LEAF_SKEW);
	/* The interpreter itself says so. */
	expect(&m, STACKS("xEyEz", ".ab.", "xEyabz"), SCRIPT_MATCHED);
}

/* Ruby's loop is of two functions, and its list has a frame before the loop is called. */
static void rubys_frame_may_be_there_before_its_loop(void **state)
{
	struct merging m = { .sample.script_runtime = SCRIPT_RUBY };

	expect(&m, STACKS("xPEyPEz", "ab.c.", "xabycz"), SCRIPT_MATCHED);
	expect(&m, STACKS("xPEyPEz", "a.bc.d.", "axbcydz"), SCRIPT_LEAF_SKEW);
	expect(&m, STACKS("xyz", "a.", "axyz"), SCRIPT_LEAF_SKEW);
	expect(&m, STACKS("xPEyPEz", "c.", "xEycz"), SCRIPT_LEAF_SKEW);
	/* What a function in C calls at the root has no loop. */
	expect(&m, STACKS("xPEyz", "ab.c", "xabyzc"), SCRIPT_MATCHED);
	m.keep = true;
	assert_string_equal(merge(&m, "xPEyPEz", "ab.c."), "xPabEyPcEz");
}

/* What a fiber runs has a native stack of its own, and one list with what has resumed it. */
static void frames_of_other_native_stacks_come_last(void **state)
{
	struct merging m = { .sample.script_runtime = SCRIPT_PHP };

	expect(&m, STACKS("xPEyEz", "a.b.|c.d.", "xaybzcd"), SCRIPT_MATCHED);
	expect(&m, STACKS("xEz", "a.|b.|c.", "xazbc"), SCRIPT_MATCHED);
	expect(&m, STACKS("xEz", "a.b.|c.", "axbzc"), SCRIPT_LEAF_SKEW);
	m.sample.walk_end = WALK_NO_TABLE;
	expect(&m, STACKS("xEz", "a.|b.", "xazb"), SCRIPT_MATCHED);
	expect(&m, STACKS("xE", "a.b.|c.", "xabc"), SCRIPT_UNMATCHED);
}

/* That it is called is known of the innermost loop: then the latest frame has to be this loop's. */
static void a_function_without_a_frame_needs_stacks_that_match(void **state)
{
	struct merging m = { .sample.script_runtime = SCRIPT_PHP };

	expect(&m, STACKS("xEyEz", "f!a.b.", "xfaybz"), SCRIPT_MATCHED);
	/* What it calls back begins, or has returned. */
	expect(&m, STACKS("xyEz", "f!a.b.", "axybz"), SCRIPT_LEAF_SKEW);
	expect(&m, STACKS("xEyEz", "f!b.", "xEybz"), SCRIPT_LEAF_SKEW);
	m.sample.walk_end = WALK_NO_TABLE;
	expect(&m, STACKS("xE", "f!a.b.", "xab"), SCRIPT_UNMATCHED);
}

static void code_that_is_made_runs_in_the_place_of_phps_loop(void **state)
{
	struct merging m = { .sample.script_runtime = SCRIPT_PHP };

	expect(&m, STACKS("xMyz", "ab.", "xabyz"), SCRIPT_MATCHED);
	expect(&m, STACKS("xMyEwMz", "a.b.c.", "xaybwcz"), SCRIPT_MATCHED);
	/* Other code is made, too. */
	expect(&m, STACKS("MyEz", "a.", "Myaz"), SCRIPT_MATCHED);
	expect(&m, STACKS("MyMz", "a.", "Myaz"), SCRIPT_MATCHED);
	expect(&m, STACKS("MyEwMz", "a.b.", "Myawbz"), SCRIPT_MATCHED);
	/* In a fiber. */
	m.sample.walk_end = WALK_NO_TABLE;
	expect(&m, STACKS("xMy", "ab.|c.", "xabyc"), SCRIPT_MATCHED);
	m.sample.script_runtime = SCRIPT_RUBY;
	m.sample.walk_end = WALK_ROOT;
	expect(&m, STACKS("xMyz", "a.", "axMyz"), SCRIPT_LEAF_SKEW);
}

/* The list of PHP is that of the process, whichever thread runs it. */
static void a_thread_without_a_loop_has_no_frames_of_phps(void **state)
{
	struct merging m = { .sample = { .script_runtime = SCRIPT_PHP, .pid = 5, .tid = 5 } };

	expect(&m, STACKS("xyz", "a.", "xyz"), SCRIPT_NO_LIST);
	/* The loop may be in what is cut off, if the thread may run it. */
	m.sample.walk_end = WALK_NO_TABLE;
	expect(&m, STACKS("xy", "a.", "xya"), SCRIPT_UNMATCHED);
	m.sample.tid = 6;
	expect(&m, STACKS("xy", "a.", "xy"), SCRIPT_NO_LIST);
	expect(&m, STACKS("xEy", "a.", "xay"), SCRIPT_UNMATCHED);
	/* Code that is made in it is not PHP's. */
	expect(&m, STACKS("xMy", "a.", "xMy"), SCRIPT_NO_LIST);
}

static void nothing_is_lost(void **state)
{
	struct merging m = { 0 };

	/* More entries than loops. */
	expect(&m, STACKS("xEz", "a.b.c.", "xabcz"), SCRIPT_UNMATCHED);
	expect(&m, STACKS("xz", "a.b.", "xzab"), SCRIPT_UNMATCHED);
	/* More loops than entries. */
	expect(&m, STACKS("EyEzE", "a.", "EyEza"), SCRIPT_UNMATCHED);
	/* The native stack is cut off: what is left of the list goes to the root. */
	m.sample.walk_end = WALK_TOO_DEEP;
	expect(&m, STACKS("xEy", "a.b.c.", "xaybc"), SCRIPT_UNMATCHED);
	/* So is the list: the loops stay of which it does not have all frames. */
	m.sample.walk_end = WALK_ROOT;
	m.sample.script_flags = SCRIPT_CUT;
	expect(&m, STACKS("xEyEz", "ab", "xabEyEz"), SCRIPT_UNMATCHED);
	assert_false(m.merged[3].replaces);
	expect(&m, STACKS("xEyEz", "ab.", "xabyEz"), SCRIPT_UNMATCHED);
	expect(&m, STACKS("xEyEz", "ab.c", "xabycEz"), SCRIPT_UNMATCHED);
	m.sample.script_runtime = SCRIPT_PHP;
	expect(&m, STACKS("xMyMz", "ab", "xabMyMz"), SCRIPT_UNMATCHED);
}

static void a_thread_may_have_no_list(void **state)
{
	struct merging m = { 0 };

	expect(&m, STACKS("xyz", "", "xyz"), SCRIPT_NO_LIST);
	expect(&m, STACKS("", "", ""), SCRIPT_NO_LIST);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(each_loop_has_its_frames),
	cmocka_unit_test(a_loop_without_a_frame_is_at_the_leaf),
	cmocka_unit_test(rubys_frame_may_be_there_before_its_loop),
	cmocka_unit_test(frames_of_other_native_stacks_come_last),
	cmocka_unit_test(a_function_without_a_frame_needs_stacks_that_match),
	cmocka_unit_test(code_that_is_made_runs_in_the_place_of_phps_loop),
	cmocka_unit_test(a_thread_without_a_loop_has_no_frames_of_phps),
	cmocka_unit_test(nothing_is_lost),
	cmocka_unit_test(a_thread_may_have_no_list),
};

UNIT_TESTS(tests);
