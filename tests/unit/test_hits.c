/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/annotate/hits.h"
#include "tests/unit/error_check.h"
#include "tests/unit/small_profile.h"
#include "tests/unit/unit.h"

/* A place in a function; file NULL: the one of its name. */
struct at {
	const char *name;
	uint32_t line;
	uint64_t offset;
	bool inlined;
	uint32_t start_line;
	const char *file;
};

/* Counts samples of the last group on a stack, given from its root to its leaf and ended by no
 * name. */
static void add(struct small_profile *s, uint64_t samples, const struct at *stack)
{
	struct profile_entry *entry = &s->entries[s->profile.entry_count++];
	uint32_t node = PRF_NONE;

	for (; stack->name; stack++) {
		struct profile_frame frame = { .name = stack->name,
					       .linkage_name = "",
					       .file = stack->file ? stack->file : stack->name,
					       .line = stack->line,
					       .start_line = stack->start_line,
					       .offset = stack->offset,
					       .inlined = stack->inlined,
					       .named = true };

		node = node_tree_add(&s->tree, node, frame_table_add(&s->frames, &frame));
	}
	*entry = (struct profile_entry){ .group = (uint32_t)s->profile.group_count - 1,
					 .node = node,
					 .samples = samples,
					 .value = 10 * samples };
}

#define STACK(...) ((const struct at[]){ __VA_ARGS__, { 0 } })

static void count_runs(struct hits *h, struct small_profile *s, const char *function,
		       size_t base_runs)
{
	const struct profile *p = small_finish(s);
	bool is_function[SMALL_ENTRIES] = { false };

	assert_true(p->frame_count < SMALL_ENTRIES);
	for (size_t i = 0; i < p->frame_count; i++)
		is_function[i] = !strcmp(p->frames[i].name, function);
	assert_no_error(hits_count(h, p, is_function, base_runs));
}

static void count(struct hits *h, struct small_profile *s, const char *function)
{
	count_runs(h, s, function, 0);
}

static const struct hit_place *find_place(const struct hits *h, const char *name, uint32_t line)
{
	for (size_t i = 0; i < h->place_count; i++)
		if (!strcmp(h->places[i].frame->name, name) && h->places[i].frame->line == line)
			return &h->places[i];
	fail_msg("nothing at %s:%u", name, line);
	return NULL;
}

static void expect(const struct hit_count *count, uint64_t self, uint64_t total)
{
	assert_int_equal(count->self_samples, self);
	assert_int_equal(count->self, 10 * self);
	assert_int_equal(count->total_samples, total);
	assert_int_equal(count->total, 10 * total);
}

static void test_lines_and_addresses(void **state)
{
	struct small_profile s;
	struct hits h;

	small_begin(&s);
	small_group(&s, "x", 1, 1);
	add(&s, 3, STACK({ "main", 1, 1 }, { "f", 10, 0x100 }));
	add(&s, 4, STACK({ "main", 1, 1 }, { "f", 10, 0x104 }));
	add(&s, 5, STACK({ "main", 1, 1 }, { "f", 11, 0x108 }, { "g", 1, 0x200 }));
	add(&s, 6, STACK({ "main", 1, 1 }, { "g", 1, 0x200 }));
	count(&h, &s, "f");
	expect(&h.all, 7, 12);
	assert_int_equal(h.place_count, 2);
	expect(&find_place(&h, "f", 10)->count, 7, 7);
	expect(&find_place(&h, "f", 11)->count, 0, 5);
	assert_int_equal(h.address_count, 3);
	assert_int_equal(h.addresses[1].offset, 0x104);
	expect(&h.addresses[0].count, 3, 3);
	expect(&h.addresses[1].count, 4, 4);
	expect(&h.addresses[2].count, 0, 5);
	assert_int_equal(h.host_count, 0);
	hits_release(&h);
	small_end(&s);
}

static void test_recursion_counts_once(void **state)
{
	struct small_profile s;
	struct hits h;

	small_begin(&s);
	small_group(&s, "x", 1, 1);
	add(&s, 2, STACK({ "f", 10, 0x100 }, { "f", 10, 0x100 }, { "f", 11, 0x108 }));
	count(&h, &s, "f");
	expect(&h.all, 2, 2);
	expect(&find_place(&h, "f", 10)->count, 0, 2);
	expect(&find_place(&h, "f", 11)->count, 2, 2);
	expect(&h.addresses[0].count, 0, 2);
	hits_release(&h);
	small_end(&s);
}

/* f calls nothing: a and b are inlined into it, b into a, too. */
static void fill_inlined(struct small_profile *s)
{
	small_begin(s);
	small_group(s, "x", 1, 1);
	add(s, 1, STACK({ "f", 10, 0x100 }, { "a", 5, 0x100, true }));
	add(s, 2, STACK({ "f", 10, 0x104 }, { "a", 5, 0x104, true }, { "b", 7, 0x104, true }));
	add(s, 4, STACK({ "f", 10, 0x104 }));
	add(s, 8, STACK({ "f", 12, 0x108 }, { "b", 7, 0x108, true }, { "g", 1, 0x200 }));
}

static void test_inlined_at_its_place(void **state)
{
	const struct hit_place *line, *a, *inner = NULL, *other = NULL;
	struct small_profile s;
	struct hits h;

	fill_inlined(&s);
	count(&h, &s, "f");
	expect(&h.all, 4, 15);
	line = find_place(&h, "f", 10);
	a = find_place(&h, "a", 5);
	expect(&line->count, 4, 7);
	expect(&a->count, 1, 3);
	assert_int_equal(a->parent, line - h.places);
	/* The same line of b at two places is two places. */
	for (size_t i = 0; i < h.place_count; i++)
		if (!strcmp(h.places[i].frame->name, "b")) {
			if (h.places[i].parent == (uint32_t)(a - h.places))
				inner = &h.places[i];
			else
				other = &h.places[i];
		}
	assert_non_null(inner);
	assert_non_null(other);
	expect(&inner->count, 2, 2);
	expect(&other->count, 0, 8);
	assert_int_equal(other->parent, find_place(&h, "f", 12) - h.places);
	/* An instruction's hits are its own, whatever was inlined there; g is called. */
	assert_int_equal(h.address_count, 3);
	expect(&h.addresses[0].count, 1, 1);
	expect(&h.addresses[1].count, 6, 6);
	expect(&h.addresses[2].count, 0, 8);
	hits_release(&h);
	small_end(&s);
}

static void test_copies(void **state)
{
	struct small_profile s;
	struct hits h;

	fill_inlined(&s);
	add(&s, 16, STACK({ "k", 3, 0x300 }, { "b", 7, 0x300, true }));
	count(&h, &s, "b");
	expect(&h.all, 18, 26);
	assert_int_equal(h.place_count, 1);
	expect(&h.places[0].count, 18, 26);
	assert_int_equal(h.address_count, 0);
	assert_int_equal(h.host_count, 2);
	assert_string_equal(h.hosts[0].frame->name, "k");
	expect(&h.hosts[0].count, 16, 16);
	assert_string_equal(h.hosts[1].frame->name, "f");
	expect(&h.hosts[1].count, 2, 10);
	hits_release(&h);
	small_end(&s);
}

/* As with --hide: f is not shown, and its copy of b lies on f's caller then. */
static void test_without_what_it_is_inlined_into(void **state)
{
	struct small_profile s;
	struct hits h;

	small_begin(&s);
	small_group(&s, "x", 1, 1);
	add(&s, 2, STACK({ "main", 1, 0x100 }, { "b", 7, 0x200, true }));
	count(&h, &s, "main");
	assert_int_equal(h.place_count, 1);
	assert_int_equal(h.address_count, 1);
	expect(&h.addresses[0].count, 0, 2);
	hits_release(&h);
	count(&h, &s, "b");
	expect(&h.all, 2, 2);
	assert_int_equal(h.place_count, 1);
	assert_int_equal(h.address_count + h.host_count, 0);
	hits_release(&h);
	small_end(&s);
}

/* A place of the function itself, where it is now. */
static size_t place_now(const struct hits *h, uint32_t line)
{
	for (size_t i = 0; i < h->place_count; i++)
		if (h->places[i].parent == PRF_NONE && h->places[i].line == line) {
			assert_string_equal(h->places[i].file, "/new/f.c");
			return i;
		}
	fail_msg("nothing at line %u", line);
	return 0;
}

/* Another build, in another folder: f begins 20 lines farther down, and so does what it inlines one
 * line. */
static void test_runs_of_two_builds(void **state)
{
	struct small_profile s;
	struct hits h;
	size_t at;

	small_begin(&s);
	small_group(&s, "x", 1, 1);
	add(&s, 3,
	    STACK({ "f", 12, 0x104, false, 10, "/old/f.c" },
		  { "a", 5, 0x104, true, 4, "/old/a.h" }));
	add(&s, 2, STACK({ "f", 15, 0x108, false, 10, "/old/f.c" }));
	s.groups[small_group(&s, "x", 2, 2)].trace = 1;
	add(&s, 7,
	    STACK({ "f", 32, 0x204, false, 30, "/new/f.c" },
		  { "a", 6, 0x204, true, 5, "/new/a.h" }));
	add(&s, 1, STACK({ "f", 33, 0x208, false, 30, "/new/f.c" }));
	s.profile.trace_count = 2;
	count_runs(&h, &s, "f", 1);
	assert_int_equal(h.run_count, 2);
	expect(&h.all, 3, 13);
	expect(&h.all_runs[0], 2, 5);
	expect(&h.all_runs[1], 1, 8);
	assert_int_equal(h.place_count, 4);
	at = place_now(&h, 32);
	expect(&h.place_runs[2 * at], 0, 3);
	expect(&h.place_runs[2 * at + 1], 0, 7);
	at = place_now(&h, 33);
	expect(&h.place_runs[2 * at], 0, 0);
	expect(&h.place_runs[2 * at + 1], 1, 1);
	at = place_now(&h, 35);
	expect(&h.place_runs[2 * at], 2, 2);
	expect(&h.place_runs[2 * at + 1], 0, 0);
	at = (size_t)(find_place(&h, "a", 6) - h.places);
	assert_string_equal(h.places[at].file, "/new/a.h");
	expect(&h.place_runs[2 * at], 3, 3);
	expect(&h.place_runs[2 * at + 1], 7, 7);
	/* Addresses are sorted, their runs stay where they are. */
	assert_int_equal(h.address_count, 4);
	assert_int_equal(h.addresses[3].offset, 0x208);
	expect(&h.address_runs[2 * h.addresses[3].number + 1], 1, 1);
	expect(&h.address_runs[2 * h.addresses[0].number], 3, 3);
	hits_release(&h);
	small_end(&s);
}

/* A line that no file can have is not moved to one before the function, or to a low one. */
static void test_lines_stay_in_range(void **state)
{
	struct small_profile s;
	struct hits h;

	small_begin(&s);
	small_group(&s, "x", 1, 1);
	add(&s, 3, STACK({ "f", UINT32_MAX, 0x104, false, 1, "/old/f.c" }));
	add(&s, 2, STACK({ "f", INT32_MAX - 3, 0x108, false, 1, "/old/f.c" }));
	add(&s, 1, STACK({ "f", INT32_MAX - 4, 0x10c, false, 1, "/old/f.c" }));
	s.groups[small_group(&s, "x", 2, 2)].trace = 1;
	add(&s, 7, STACK({ "f", 6, 0x204, false, 5, "/new/f.c" }));
	s.profile.trace_count = 2;
	count_runs(&h, &s, "f", 1);
	assert_int_equal(h.place_count, 4);
	expect(&h.places[place_now(&h, UINT32_MAX)].count, 3, 3);
	expect(&h.places[place_now(&h, INT32_MAX - 3)].count, 2, 2);
	expect(&h.places[place_now(&h, INT32_MAX)].count, 1, 1);
	hits_release(&h);
	small_end(&s);
}

static void test_nothing(void **state)
{
	struct small_profile s;
	struct hits h;

	small_begin(&s);
	small_group(&s, "x", 1, 1);
	s.entries[s.profile.entry_count++] =
		(struct profile_entry){ .node = PRF_NONE, .samples = 3, .value = 30 };
	count(&h, &s, "f");
	expect(&h.all, 0, 0);
	assert_int_equal(h.place_count + h.address_count + h.host_count, 0);
	hits_release(&h);
	small_end(&s);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_lines_and_addresses),
	cmocka_unit_test(test_recursion_counts_once),
	cmocka_unit_test(test_inlined_at_its_place),
	cmocka_unit_test(test_copies),
	cmocka_unit_test(test_without_what_it_is_inlined_into),
	cmocka_unit_test(test_runs_of_two_builds),
	cmocka_unit_test(test_lines_stay_in_range),
	cmocka_unit_test(test_nothing),
};

UNIT_TESTS(tests);
