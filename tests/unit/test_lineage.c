/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/difference/lineage.h"
#include "report/output/progress.h"
#include "tests/unit/error_check.h"
#include "tests/unit/small_profile.h"
#include "tests/unit/terminal.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

#define ROWS 32

/* Two sides whose rows are the names of their frames. */
struct both {
	struct small_profile sides[2];
	const char *names[ROWS];
	size_t count;
	uint32_t row_of[2][ROWS];
	struct lineage list[ROWS];
};

static uint32_t row_of(struct both *p, const char *name)
{
	for (size_t i = 0; i < p->count; i++)
		if (!strcmp(p->names[i], name))
			return (uint32_t)i;
	assert_true(p->count < ROWS);
	p->names[p->count] = name;
	return (uint32_t)p->count++;
}

static void compare(struct both *p, const struct small_stack *before, const struct small_stack *now)
{
	struct lineage_side sides[2];

	*p = (struct both){ 0 };
	for (int side = 0; side < 2; side++) {
		const struct profile *profile;

		small_begin_with(&p->sides[side], "work", side ? now : before);
		profile = small_finish(&p->sides[side]);
		assert_true(profile->frame_count <= ROWS);
		for (size_t i = 0; i < profile->frame_count; i++)
			p->row_of[side][i] = row_of(p, profile->frames[i].name);
		sides[side] = (struct lineage_side){ profile, p->row_of[side] };
	}
	assert_no_error(lineages_find(p->list, p->names, p->count, sides));
}

static void end(struct both *p)
{
	small_end(&p->sides[0]);
	small_end(&p->sides[1]);
}

/* What became of a row: "" for nothing that is known. */
static void expect(struct both *p, const char *name, enum lineage_kind kind, const char *other)
{
	const struct lineage *one = &p->list[row_of(p, name)];

	if (one->kind != kind)
		fail_msg("%s: %d", name, one->kind);
	assert_string_equal(one->other == PRF_NONE ? "" : p->names[one->other], other);
}

/* Nothing is known of any row but these two. */
static void expect_no_others(struct both *p, const char *one, const char *other)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->names[i], one) && strcmp(p->names[i], other))
			expect(p, p->names[i], LINEAGE_NONE, "");
}

static void renamed(const struct small_stack *before, const struct small_stack *now,
		    const char *was, const char *is)
{
	struct both p;

	compare(&p, before, now);
	expect(&p, was, LINEAGE_RENAMED, is);
	expect(&p, is, LINEAGE_RENAMED, was);
	expect_no_others(&p, was, is);
	end(&p);
}

/* Both are not the same. */
static void not_renamed(const struct small_stack *before, const struct small_stack *now,
			const char *was, const char *is)
{
	struct both p;

	compare(&p, before, now);
	expect(&p, was, LINEAGE_NONE, "");
	expect(&p, is, LINEAGE_NONE, "");
	end(&p);
}

static void test_same(void **state)
{
	struct both p;

	compare(&p, SMALL_STACKS({ "main;work;read", 50 }), SMALL_STACKS({ "main;work;read", 90 }));
	expect_no_others(&p, "", "");
	end(&p);
}

/* Another name with the same callers, that calls the same. */
static void test_renamed_by_calls(void **state)
{
	const struct small_stack *before = SMALL_STACKS({ "main;old;read", 30 },
							{ "main;old;sum", 30 }, { "main;old", 30 });

	renamed(before,
		SMALL_STACKS({ "main;new;read", 60 }, { "main;new;sum", 20 }, { "main;new", 50 }),
		"old", "new");
	/* Few samples of a call are chance, on either side. */
	renamed(before,
		SMALL_STACKS({ "main;new;read", 60 }, { "main;new;sum", 20 }, { "main;new;log", 3 },
			     { "again;new", 2 }),
		"old", "new");
	/* Recursion stays recursion. */
	renamed(SMALL_STACKS({ "main;old;old;read", 30 }, { "main;old;sum", 30 }),
		SMALL_STACKS({ "main;new;new;read", 30 }, { "main;new;sum", 30 }), "old", "new");
	not_renamed(SMALL_STACKS({ "main;old;old;read", 30 }, { "main;old;sum", 30 }),
		    SMALL_STACKS({ "main;new;read", 30 }, { "main;new;sum", 30 }), "old", "new");
}

static void test_not_renamed(void **state)
{
	const struct small_stack *before = SMALL_STACKS({ "main;old;read", 30 },
							{ "main;old;sum", 30 });

	/* It calls something else, or less, or is called by another one. */
	not_renamed(before, SMALL_STACKS({ "main;new;read", 30 }, { "main;new;write", 30 }), "old",
		    "new");
	not_renamed(before, SMALL_STACKS({ "main;new;read", 30 }, { "main;new", 30 }), "old",
		    "new");
	not_renamed(before, SMALL_STACKS({ "again;new;read", 30 }, { "again;new;sum", 30 }), "old",
		    "new");
	/* Nothing called is no evidence, and neither is one caller with one thing called. */
	not_renamed(SMALL_STACKS({ "main;old", 90 }), SMALL_STACKS({ "main;new", 90 }), "old",
		    "new");
	not_renamed(SMALL_STACKS({ "main;old;read", 90 }), SMALL_STACKS({ "main;new;read", 90 }),
		    "old", "new");
	/* Recursion is neither a caller nor called. */
	not_renamed(SMALL_STACKS({ "main;old;old", 90 }), SMALL_STACKS({ "main;new;new", 90 }),
		    "old", "new");
	not_renamed(SMALL_STACKS({ "main;old;old;read", 90 }),
		    SMALL_STACKS({ "main;new;new;read", 90 }), "old", "new");
	/* Nor is what calls the outermost, */
	not_renamed(SMALL_STACKS({ "old;read", 30 }, { "old;sum", 30 }),
		    SMALL_STACKS({ "new;read", 30 }, { "new;sum", 30 }), "old", "new");
	/* ... what stands for an object, */
	not_renamed(SMALL_STACKS({ "main;old;read", 30 }, { "main;old;o:[lib]", 30 }),
		    SMALL_STACKS({ "main;new;read", 30 }, { "main;new;o:[lib]", 30 }), "old",
		    "new");
	not_renamed(SMALL_STACKS({ "o:[lib];old;read", 30 }, { "o:[lib];old;sum", 30 }),
		    SMALL_STACKS({ "o:[lib];new;read", 30 }, { "o:[lib];new;sum", 30 }), "old",
		    "new");
	/* ... or the kernel, but for its own functions. */
	not_renamed(SMALL_STACKS({ "main;old;read", 30 }, { "main;old;k:fault", 30 }),
		    SMALL_STACKS({ "main;new;read", 30 }, { "main;new;k:fault", 30 }), "old",
		    "new");
	renamed(SMALL_STACKS({ "main;k:old;k:read", 30 }, { "main;k:old;k:fault", 30 }),
		SMALL_STACKS({ "main;k:new;k:read", 30 }, { "main;k:new;k:fault", 30 }), "old",
		"new");
	/* Too few samples. */
	not_renamed(before, SMALL_STACKS({ "main;new;read", 9 }, { "main;new;sum", 9 }), "old",
		    "new");
	/* It could be either of two. */
	not_renamed(before,
		    SMALL_STACKS({ "main;new;read", 30 }, { "main;new;sum", 30 },
				 { "main;next;read", 30 }, { "main;next;sum", 30 }),
		    "old", "new");
	/* Both sides have the old one. */
	not_renamed(before,
		    SMALL_STACKS({ "main;new;read", 30 }, { "main;new;sum", 30 },
				 { "main;old;sum", 1 }),
		    "old", "new");
}

#define THRICE(text) text text text
#define DEEP(name) THRICE(THRICE(name ";")) THRICE(THRICE(name ";")) THRICE(THRICE(name ";"))

/* Each sample of a recursion counts once. */
static void test_recursion(void **state)
{
	struct both p;

	renamed(SMALL_STACKS({ "main;" DEEP("old") "read", 15 }, { "main;" DEEP("old") "sum", 15 }),
		SMALL_STACKS({ "main;" DEEP("new") "read", 15 }, { "main;" DEEP("new") "sum", 15 }),
		"old", "new");
	/* Two samples, which have the function in 27 nodes each. */
	not_renamed(SMALL_STACKS({ "main;" DEEP("m:f(int)") "read", 2 }),
		    SMALL_STACKS({ "main;" DEEP("m:f(long)") "read", 2 }), "f(int)", "f(long)");
	compare(&p, SMALL_STACKS({ "main;" DEEP("work") "read", 30 }),
		SMALL_STACKS({ "main;read", 30 }));
	expect(&p, "work", LINEAGE_INLINED, "");
	end(&p);
	compare(&p, SMALL_STACKS({ "main;" DEEP("work"), 2 }),
		SMALL_STACKS({ "main;" DEEP("i:work"), 2 }));
	expect_no_others(&p, "", "");
	end(&p);
	/* Of two functions that call each other. */
	renamed(SMALL_STACKS({ "main;" DEEP("old;back") "read", 15 },
			     { "main;" DEEP("old;back") "sum", 15 }, { "main;old;sum", 15 }),
		SMALL_STACKS({ "main;" DEEP("new;back") "read", 15 },
			     { "main;" DEEP("new;back") "sum", 15 }, { "main;new;sum", 15 }),
		"old", "new");
}

/* Two names of what one caller calls, and nothing else is known of. */
static void renamed_leaf(const char *was, const char *is, bool same)
{
	char before[128], now[128];

	snprintf(before, sizeof(before), "main;%s", was);
	snprintf(now, sizeof(now), "main;%s", is);
	(same ? renamed : not_renamed)(SMALL_STACKS({ before, 90 }), SMALL_STACKS({ now, 90 }),
				       was + (was[1] == ':' ? 2 : 0), is + (is[1] == ':' ? 2 : 0));
}

/* The same name with other arguments, which calls nothing. */
static void test_renamed_by_name(void **state)
{
	renamed_leaf("m:sort<int>(int*)", "m:sort<long>(long*, bool)", true);
	renamed_leaf("m:f(int) [guessed]", "m:f(long) [guessed]", true);
	renamed_leaf("copy@@LIB_1", "copy@@LIB_2", true);
	renamed_leaf("copy@@LIB_1 [guessed]", "copy@@LIB_2 [guessed]", true);
	/* Who called the outermost is not known. */
	not_renamed(SMALL_STACKS({ "m:f(int)", 90 }), SMALL_STACKS({ "m:f(long)", 90 }), "f(int)",
		    "f(long)");
	/* Of overloads neither is. */
	not_renamed(SMALL_STACKS({ "main;m:f(int)", 90 }),
		    SMALL_STACKS({ "main;m:f(long)", 90 }, { "main;m:f(bool)", 90 }), "f(int)",
		    "f(long)");
	/* Methods of two types. */
	renamed_leaf("m:<Red as Draw>::draw", "m:<Blue as Draw>::draw", false);
	renamed_leaf("main.(*Red).Draw", "main.(*Blue).Draw", false);
	renamed_leaf("Lists.<init>", "Lists.<clinit>", false);
	renamed_leaf("sort<int>", "sort<long>", false);
	/* What is guessed, and what stands before a space. */
	renamed_leaf("m:f(int) [guessed]", "m:g(int) [guessed]", false);
	renamed_leaf("m:f(int) [guessed]", "m:f(long)", false);
	renamed_leaf("copy@@LIB_1 [guessed]", "copy@@LIB_2", false);
	renamed_leaf("read all", "write all", false);
	/* Names of two languages. */
	renamed_leaf("m:f(int)", "f", false);
}

/* What a renamed function calls is called by the same one. */
static void test_renamed_chain(void **state)
{
	struct both p;

	compare(&p,
		SMALL_STACKS({ "main;m:f<int>(int);old;read", 30 },
			     { "main;m:f<int>(int);old;sum", 30 }),
		SMALL_STACKS({ "main;m:f<char>(char);new;read", 30 },
			     { "main;m:f<char>(char);new;sum", 30 }));
	expect(&p, "f<int>(int)", LINEAGE_RENAMED, "f<char>(char)");
	expect(&p, "old", LINEAGE_RENAMED, "new");
	end(&p);
}

/* Names that stand for an object are no functions. */
static void test_unnamed(void **state)
{
	renamed(SMALL_STACKS({ "main;[a];read", 30 }, { "main;[a];sum", 30 }),
		SMALL_STACKS({ "main;[b];read", 30 }, { "main;[b];sum", 30 }), "[a]", "[b]");
	not_renamed(SMALL_STACKS({ "main;o:[a];read", 30 }, { "main;o:[a];sum", 30 }),
		    SMALL_STACKS({ "main;o:[b];read", 30 }, { "main;o:[b];sum", 30 }), "[a]",
		    "[b]");
}

/* Puts what has this name and kind into the second object of a side. */
static void move(struct both *p, int side, const char *name, enum profile_frame_kind kind)
{
	for (size_t i = 0; i < p->sides[side].frames.count; i++) {
		struct profile_frame *frame = &p->sides[side].frames.frames[i];

		if (!strcmp(frame->name, name) && frame->kind == kind)
			frame->object = 1;
	}
}

/* Looks again, now that frames lie elsewhere. */
static void compare_objects(struct both *p)
{
	static const struct profile_object objects[2][2] = {
		{ { NULL, "x", "ok" }, { NULL, "worker-1", "ok" } },
		{ { NULL, "x", "ok" }, { NULL, "worker-2", "ok" } },
	};
	struct lineage_side sides[2];

	for (int side = 0; side < 2; side++) {
		p->sides[side].profile.objects = objects[side];
		p->sides[side].profile.object_count = 2;
		sides[side] = (struct lineage_side){ &p->sides[side].profile, p->row_of[side] };
	}
	assert_no_error(lineages_find(p->list, p->names, p->count, sides));
}

static void test_objects(void **state)
{
	struct both p;

	/* "s:read" stays in the first object. */
	compare(&p,
		SMALL_STACKS({ "main;s:read", 30 }, { "main;old;read", 30 },
			     { "main;old;sum", 30 }),
		SMALL_STACKS({ "main;new;read", 30 }, { "main;new;sum", 30 }));
	expect(&p, "old", LINEAGE_RENAMED, "new");
	/* In two files. */
	move(&p, 0, "old", PROFILE_FRAME_USER);
	move(&p, 1, "new", PROFILE_FRAME_USER);
	compare_objects(&p);
	expect_no_others(&p, "", "");
	/* They have a function in common, which one side has in another object, too. */
	move(&p, 0, "read", PROFILE_FRAME_USER);
	move(&p, 1, "read", PROFILE_FRAME_USER);
	compare_objects(&p);
	expect_no_others(&p, "", "");
	/* ... and one that is in no other. */
	move(&p, 0, "sum", PROFILE_FRAME_USER);
	move(&p, 1, "sum", PROFILE_FRAME_USER);
	compare_objects(&p);
	expect(&p, "old", LINEAGE_RENAMED, "new");
	expect_no_others(&p, "old", "new");
	end(&p);
	/* One of them is in two objects. */
	compare(&p,
		SMALL_STACKS({ "main;s:old;read", 30 }, { "main;old;read", 30 },
			     { "main;old;sum", 30 }),
		SMALL_STACKS({ "main;new;read", 30 }, { "main;new;sum", 30 }));
	expect(&p, "old", LINEAGE_RENAMED, "new");
	move(&p, 0, "old", PROFILE_FRAME_SCRIPT);
	compare_objects(&p);
	expect_no_others(&p, "", "");
	end(&p);
}

static void test_inlined(void **state)
{
	struct both p;

	/* As the debug information has it; and the other way around. */
	compare(&p, SMALL_STACKS({ "main;work", 50 }, { "main;i:step", 50 }),
		SMALL_STACKS({ "main;i:work", 50 }, { "main;step", 50 }));
	expect(&p, "work", LINEAGE_INLINED, "main");
	expect(&p, "step", LINEAGE_CALLED, "main");
	expect_no_others(&p, "work", "step");
	end(&p);
	/* Into two functions. */
	compare(&p, SMALL_STACKS({ "main;work", 50 }, { "main;run;work", 50 }),
		SMALL_STACKS({ "main;i:work", 50 }, { "main;run;i:work", 50 }));
	expect(&p, "work", LINEAGE_INLINED, "");
	end(&p);
	/* In some places only, and in some places before. */
	compare(&p, SMALL_STACKS({ "main;work", 50 }, { "main;run;i:work", 50 }),
		SMALL_STACKS({ "main;i:work", 50 }, { "main;run;i:work", 50 }));
	expect_no_others(&p, "", "");
	end(&p);
	compare(&p, SMALL_STACKS({ "main;work", 50 }, { "main;run;work", 50 }),
		SMALL_STACKS({ "main;i:work", 50 }, { "main;run;work", 50 }));
	expect_no_others(&p, "", "");
	end(&p);
}

/* Without debug information. */
static void test_inlined_unseen(void **state)
{
	const struct small_stack *before = SMALL_STACKS({ "main;work;read", 50 },
							{ "main;work", 50 });
	struct both p;

	compare(&p, before, SMALL_STACKS({ "main;read", 50 }, { "main", 50 }));
	expect(&p, "work", LINEAGE_INLINED, "main");
	expect_no_others(&p, "work", "");
	end(&p);
	compare(&p, SMALL_STACKS({ "main;read", 50 }, { "main", 50 }), before);
	expect(&p, "work", LINEAGE_CALLED, "main");
	end(&p);
	/* It is called by another one, or by the same one as before. */
	compare(&p, before, SMALL_STACKS({ "main;next;read", 50 }));
	expect(&p, "work", LINEAGE_NONE, "");
	end(&p);
	compare(&p, SMALL_STACKS({ "main;work;read", 50 }, { "main;read", 5 }),
		SMALL_STACKS({ "main;read", 50 }));
	expect(&p, "work", LINEAGE_NONE, "");
	end(&p);
	/* By a stray sample only, or much less than it was, of what was counted on each side. */
	compare(&p, before, SMALL_STACKS({ "main;read", 1 }, { "main", 99 }));
	expect(&p, "work", LINEAGE_NONE, "");
	end(&p);
	compare(&p, before, SMALL_STACKS({ "main;read", 50 }, { "main", 950 }));
	expect(&p, "work", LINEAGE_NONE, "");
	end(&p);
	compare(&p, before, SMALL_STACKS({ "main;read", 300 }, { "main", 700 }));
	expect(&p, "work", LINEAGE_INLINED, "main");
	end(&p);
	/* Runtimes of scripts do not inline. */
	compare(&p, SMALL_STACKS({ "main;s:work;read", 50 }), SMALL_STACKS({ "main;read", 50 }));
	expect(&p, "work", LINEAGE_NONE, "");
	end(&p);
	/* It would be seen. */
	compare(&p, before, SMALL_STACKS({ "main;read", 50 }, { "main;i:sum", 50 }));
	expect(&p, "work", LINEAGE_NONE, "");
	end(&p);
	/* The kernel is entered from all functions, and an object has many. */
	compare(&p, SMALL_STACKS({ "main;work;k:fault", 50 }),
		SMALL_STACKS({ "main;k:fault", 50 }));
	expect(&p, "work", LINEAGE_NONE, "");
	end(&p);
	compare(&p, SMALL_STACKS({ "o:[lib];work;read", 50 }),
		SMALL_STACKS({ "o:[lib];read", 50 }));
	expect(&p, "work", LINEAGE_NONE, "");
	end(&p);
	/* It called nothing. */
	compare(&p, SMALL_STACKS({ "main;work", 50 }), SMALL_STACKS({ "main", 50 }));
	expect(&p, "work", LINEAGE_NONE, "");
	end(&p);
	/* One of its calls is not there any more. */
	compare(&p, SMALL_STACKS({ "main;work;read", 50 }, { "main;work;write", 50 }),
		SMALL_STACKS({ "main;read", 50 }));
	expect(&p, "work", LINEAGE_NONE, "");
	end(&p);
}

#define MANY 100000

/* One side of many functions, of which each caller calls so many that the other side has not. */
struct many {
	struct profile profile;
	struct profile_frame *frames;
	struct profile_node *nodes;
	struct profile_entry *entries;
	uint32_t *row_of;
};

static void begin_many(struct many *m, uint32_t each, int side, const char **names)
{
	const uint32_t callers = MANY / each, n = callers + MANY;

	m->frames = calloc(n, sizeof(*m->frames));
	m->nodes = calloc(n, sizeof(*m->nodes));
	m->entries = calloc(MANY, sizeof(*m->entries));
	m->row_of = calloc(n, sizeof(*m->row_of));
	for (uint32_t i = 0; i < n; i++) {
		bool leaf = i >= callers;
		uint32_t row = leaf && side ? i + MANY : i;

		m->frames[i] = (struct profile_frame){
			.name = names[row], .linkage_name = "", .object = PRF_NONE, .named = true
		};
		m->nodes[i] = (struct profile_node){ leaf ? (i - callers) / each : PRF_NONE, i, 0 };
		m->row_of[i] = row;
		if (leaf)
			m->entries[i - callers] =
				(struct profile_entry){ .node = i, .samples = 20, .value = 20 };
	}
	m->profile = (struct profile){ .frames = m->frames,
				       .nodes = m->nodes,
				       .entries = m->entries,
				       .frame_count = n,
				       .node_count = n,
				       .entry_count = MANY,
				       .samples = 20 * MANY };
}

static void end_many(struct many *m)
{
	free(m->frames);
	free(m->nodes);
	free(m->entries);
	free(m->row_of);
}

/* The first function before has this lineage now. It takes no time to speak of, or would not end.
 */
static void expect_of_many(uint32_t each, enum lineage_kind kind)
{
	const uint32_t callers = MANY / each, n = callers + 2 * MANY;
	char(*texts)[16] = calloc(n, sizeof(*texts));
	const char **names = calloc(n, sizeof(*names));
	struct lineage *list = calloc(n, sizeof(*list));
	struct lineage_side sides[2];
	struct many many[2];

	for (uint32_t i = 0; i < n; i++) {
		/* The same name in another version. */
		snprintf(texts[i], sizeof(*texts), "f%u@%u", i < callers + MANY ? i : i - MANY,
			 i < callers + MANY);
		names[i] = texts[i];
	}
	for (int side = 0; side < 2; side++) {
		begin_many(&many[side], each, side, names);
		sides[side] = (struct lineage_side){ &many[side].profile, many[side].row_of };
	}
	assert_no_error(lineages_find(list, names, n, sides));
	assert_int_equal(list[callers].kind, kind);
	for (int side = 0; side < 2; side++)
		end_many(&many[side]);
	free(texts);
	free(names);
	free(list);
}

/* A long search says how far it is. */
static void test_progress(void **state)
{
	struct terminal t;

	terminal_open(&t);
	progress_first_ns = 0;
	expect_of_many(10, LINEAGE_RENAMED);
	terminal_expect(&t, "looking for renamed functions: 0 %");
	terminal_close(&t);
}

/* Where one caller calls very many that only one side has, nothing is looked for. */
static void test_many(void **state)
{
	expect_of_many(10, LINEAGE_RENAMED);
	expect_of_many(MANY, LINEAGE_NONE);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_progress),	 cmocka_unit_test(test_same),
	cmocka_unit_test(test_renamed_by_calls), cmocka_unit_test(test_not_renamed),
	cmocka_unit_test(test_renamed_by_name),	 cmocka_unit_test(test_renamed_chain),
	cmocka_unit_test(test_unnamed),		 cmocka_unit_test(test_inlined),
	cmocka_unit_test(test_inlined_unseen),	 cmocka_unit_test(test_recursion),
	cmocka_unit_test(test_objects),		 cmocka_unit_test(test_many),
};

UNIT_TESTS(tests);
