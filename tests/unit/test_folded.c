/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/views/folded.h"
#include "report/views/folded_lines.h"
#include "tests/unit/error_check.h"
#include "tests/unit/small_profile.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct view_options plain = { .leading = { PROFILE_BY_COMM } };

static void expect(struct small_profile *s, const struct view_options *o, const char *text)
{
	struct sink sink;

	sink_init(&sink, -1);
	assert_no_error(folded_render(small_finish(s), o, &sink));
	assert_string_equal(buffer_string(&sink.buffer), text);
	sink_release(&sink);
	small_end(s);
}

static void test_lines(void **state)
{
	struct small_profile s;

	small_begin_with(&s, "a comm;x",
			 SMALL_STACKS({ "main;f", 3 }, { "main", 2 }, { "main;f;k:sys", 1 },
				      { NULL, 4 }, { "main;g", 0 }));
	expect(&s, &plain,
	       "a_comm:x 4\na_comm:x;main 2\na_comm:x;main;f 3\na_comm:x;main;f;sys 1\n");
}

static void test_joins_what_looks_the_same(void **state)
{
	struct small_profile s;
	uint32_t one, two;

	small_begin(&s);
	one = small_group(&s, "c", 1, 1);
	two = small_group(&s, "c", 2, 2);
	small_entry(&s, one, "main;f", 3);
	small_entry(&s, one, "main;i:f", 1);
	small_entry(&s, two, "main;f", 5);
	expect(&s, &plain, "c;main;f 9\n");
}

/* The lines as bytes are in order, also where one name begins like another. */
static void test_bytewise_order(void **state)
{
	struct small_profile s;

	small_begin_with(&s, "c",
			 SMALL_STACKS({ "a;x", 1 }, { "a!b;x", 2 }, { "a", 3 }, { "a!b", 4 },
				      { "a<b", 5 }, { "a b;y", 6 }));
	expect(&s, &plain, "c;a 3\nc;a b;y 6\nc;a!b 4\nc;a!b;x 2\nc;a;x 1\nc;a<b 5\n");
}

static void test_order_of_many(void **state)
{
	struct sink sink;
	char *line, *rest, before[128] = "";
	size_t lines = 0;
	uint64_t sum = 0;
	struct small_profile s;
	uint32_t random = 7, group;

	small_begin(&s);
	group = small_group(&s, "c", 1, 1);
	for (int i = 0; i < SMALL_ENTRIES; i++) {
		static const char alphabet[] = "ab!<~;;  ";
		char stack[16] = "m;";
		size_t n = 2;

		for (; n < 10; n++) {
			random = random * 1103515245 + 12345;
			stack[n] = alphabet[(random >> 16) % (sizeof(alphabet) - 1)];
			if (stack[n] == ';' && stack[n - 1] == ';')
				stack[n] = 'b';
		}
		stack[n] = 0;
		small_entry(&s, group, stack, 1);
	}
	sink_init(&sink, -1);
	assert_no_error(folded_render(small_finish(&s), &plain, &sink));
	rest = (char *)(uintptr_t)buffer_string(&sink.buffer);
	while ((line = strsep(&rest, "\n")) && *line) {
		char *count = strrchr(line, ' ');

		sum += strtoull(count, NULL, 10);
		count[0] = 0;
		assert_true(strcmp(before, line) < 0);
		snprintf(before, sizeof(before), "%s", line);
		lines++;
	}
	assert_true(lines > SMALL_ENTRIES / 2);
	assert_int_equal(sum, SMALL_ENTRIES);
	sink_release(&sink);
	small_end(&s);
}

static void test_leading_frames(void **state)
{
	const struct view_options o = { .leading = { PROFILE_BY_EVENT, PROFILE_BY_CPU,
						     PROFILE_BY_THREAD } };
	struct small_profile s;

	small_begin(&s);
	small_entry(&s, small_group(&s, "c", 12, 13), "main", 1);
	expect(&s, &o, "cpu-clock;cpu-0;c-12/13;main 1\n");
}

static void test_annotations(void **state)
{
	const struct view_options o = { .annotate = true, .leading = { PROFILE_BY_COMM } };
	struct small_profile s;

	small_begin(&s);
	small_entry(&s, small_group(&s, "c", 1, 1), "main;i:f;k:sys", 1);
	expect(&s, &o, "c;main;f_[i];sys_[k] 1\n");
}

static void test_hostile_names(void **state)
{
	struct small_profile s;

	small_begin_with(&s, "\x1b[31m c\n",
			 SMALL_STACKS(
				 /* A number after a blank would be read as a count. */
				 { "x 5", 1 }, { "a\nb\xff\xc2\x9b", 2 }, { "", 3 }));
	expect(&s, &plain, "?[31m_c?;[unknown] 3\n?[31m_c?;a?b?? 2\n?[31m_c?;x_5 1\n");
}

#define DEPTH 8192

/* Leaves of one deep stack: all lines written out are thousands of times as much as the tree. */
static void test_deep_stacks(void **state)
{
#ifdef __SANITIZE_ADDRESS__
	skip(); /* its malloc() ends the program */
#else
	static struct profile_node nodes[2 * DEPTH];
	static struct profile_entry entries[DEPTH];
	struct rlimit before, little;
	struct folded_lines f;
	struct small_profile s;
	struct profile p;
	struct error *error;
	struct sink text;
	size_t pages = 0;
	FILE *memory = fopen("/proc/self/statm", "r");

	small_begin_with(&s, "c", SMALL_STACKS({ "m", 1 }));
	p = *small_finish(&s);
	for (uint32_t i = 0; i < 2 * DEPTH; i++)
		nodes[i] = (struct profile_node){ i ? i - 1 : PRF_NONE, 0, i + 1 };
	for (uint32_t i = 0; i < DEPTH; i++)
		entries[i] = (struct profile_entry){ 0, 0, DEPTH + i, 1, 1 };
	p.nodes = nodes;
	p.node_count = 2 * DEPTH;
	p.entries = entries;
	p.entry_count = DEPTH;
	assert_non_null(memory);
	assert_int_equal(fscanf(memory, "%zu", &pages), 1);
	fclose(memory);
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	little = before;
	little.rlim_cur = pages * (size_t)sysconf(_SC_PAGESIZE) + (32 << 20);
	assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
	error = folded_lines_init(&f, &p, &plain);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	assert_no_error(error);
	assert_int_equal(f.line_count, DEPTH);
	sink_init(&text, -1);
	folded_lines_stack(&f, &f.lines[DEPTH - 1], &text);
	assert_int_equal(text.buffer.size, 1 + 2 * 2 * DEPTH);
	sink_release(&text);
	folded_lines_release(&f);
	small_end(&s);
#endif
}

static void test_nothing(void **state)
{
	struct small_profile s;

	small_begin(&s);
	expect(&s, &plain, "");
	/* Without leading frames, a sample without frames has no line at all. */
	small_begin(&s);
	small_entry(&s, small_group(&s, "c", 1, 1), NULL, 1);
	expect(&s, &(struct view_options){ 0 }, "");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_lines),	       cmocka_unit_test(test_joins_what_looks_the_same),
	cmocka_unit_test(test_bytewise_order), cmocka_unit_test(test_order_of_many),
	cmocka_unit_test(test_leading_frames), cmocka_unit_test(test_annotations),
	cmocka_unit_test(test_hostile_names),  cmocka_unit_test(test_nothing),
	cmocka_unit_test(test_deep_stacks),
};

UNIT_TESTS(tests);
