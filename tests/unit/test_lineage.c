/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/difference/lineage.h"
#include "tests/unit/error_check.h"
#include "tests/unit/small_profile.h"
#include "tests/unit/unit.h"

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
	renamed(SMALL_STACKS({ "main;old;old;read", 30 }),
		SMALL_STACKS({ "main;new;new;read", 30 }), "old", "new");
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

/* The same name with other arguments, which calls nothing. */
static void test_renamed_by_name(void **state)
{
	renamed(SMALL_STACKS({ "main;sort<int>(int*)", 90 }),
		SMALL_STACKS({ "main;sort<long>(long*, bool)", 90 }), "sort<int>(int*)",
		"sort<long>(long*, bool)");
	renamed(SMALL_STACKS({ "main;copy@@LIB_1", 90 }), SMALL_STACKS({ "main;copy@@LIB_2", 90 }),
		"copy@@LIB_1", "copy@@LIB_2");
	/* Of overloads neither is. */
	not_renamed(SMALL_STACKS({ "main;f(int)", 90 }),
		    SMALL_STACKS({ "main;f(long)", 90 }, { "main;f(bool)", 90 }), "f(int)",
		    "f(long)");
	/* Methods of two types. */
	not_renamed(SMALL_STACKS({ "main;<Red as Draw>::draw", 90 }),
		    SMALL_STACKS({ "main;<Blue as Draw>::draw", 90 }), "<Red as Draw>::draw",
		    "<Blue as Draw>::draw");
}

/* What a renamed function calls is called by the same one. */
static void test_renamed_chain(void **state)
{
	struct both p;

	compare(&p,
		SMALL_STACKS({ "main;f<int>(int);old;read", 30 },
			     { "main;f<int>(int);old;sum", 30 }),
		SMALL_STACKS({ "main;f<char>(char);new;read", 30 },
			     { "main;f<char>(char);new;sum", 30 }));
	expect(&p, "f<int>(int)", LINEAGE_RENAMED, "f<char>(char)");
	expect(&p, "old", LINEAGE_RENAMED, "new");
	end(&p);
}

/* Names that stand for an object are no functions. */
static void test_unnamed(void **state)
{
	struct both p;
	struct lineage_side sides[2];

	compare(&p, SMALL_STACKS({ "main;[a];read", 30 }, { "main;[a];sum", 30 }),
		SMALL_STACKS({ "main;[b];read", 30 }, { "main;[b];sum", 30 }));
	expect(&p, "[a]", LINEAGE_RENAMED, "[b]");
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < p.sides[side].frames.count; i++)
			p.sides[side].frames.frames[i].named =
				p.sides[side].frames.frames[i].name[0] != '[';
		sides[side] = (struct lineage_side){ &p.sides[side].profile, p.row_of[side] };
	}
	assert_no_error(lineages_find(p.list, p.names, p.count, sides));
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
	/* In some places only. */
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

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_same),	      cmocka_unit_test(test_renamed_by_calls),
	cmocka_unit_test(test_not_renamed),   cmocka_unit_test(test_renamed_by_name),
	cmocka_unit_test(test_renamed_chain), cmocka_unit_test(test_unnamed),
	cmocka_unit_test(test_inlined),	      cmocka_unit_test(test_inlined_unseen),
};

UNIT_TESTS(tests);
