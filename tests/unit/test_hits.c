/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/annotate/hits.h"
#include "tests/unit/error_check.h"
#include "tests/unit/small_profile.h"
#include "tests/unit/unit.h"

/* A place in a function, in the file of its name; 0: an inlined one has its caller's offset. */
struct at {
	const char *name;
	uint32_t line;
	uint64_t offset;
	bool inlined;
};

/* Counts samples on a stack, given from its root to its leaf and ended by no name. */
static void add(struct small_profile *s, uint64_t samples, const struct at *stack)
{
	struct profile_entry *entry = &s->entries[s->profile.entry_count++];
	uint32_t node = PRF_NONE;

	for (; stack->name; stack++) {
		struct profile_frame frame = { .name = stack->name,
					       .linkage_name = "",
					       .file = stack->name,
					       .line = stack->line,
					       .offset = stack->offset,
					       .inlined = stack->inlined,
					       .named = true };

		node = node_tree_add(&s->tree, node, frame_table_add(&s->frames, &frame));
	}
	*entry = (struct profile_entry){ .node = node, .samples = samples, .value = 10 * samples };
}

#define STACK(...) ((const struct at[]){ __VA_ARGS__, { 0 } })

static void count(struct hits *h, struct small_profile *s, const char *function)
{
	const struct profile *p = small_finish(s);
	bool is_function[SMALL_ENTRIES] = { false };

	assert_true(p->frame_count < SMALL_ENTRIES);
	for (size_t i = 0; i < p->frame_count; i++)
		is_function[i] = !strcmp(p->frames[i].name, function);
	assert_no_error(hits_count(h, p, is_function));
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
	cmocka_unit_test(test_nothing),
};

UNIT_TESTS(tests);
