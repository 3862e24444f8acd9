/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/table_store.h"

#include <stdlib.h>

#include "common/limits.h"
#include "tests/unit/unwinder_fixture.h"

#define SLABS 4
#define REST RANGE_POOL_REST_NS
#define NOW (10 * REST)

/* The store, and the maps that it writes. */
struct stored {
	struct fixture *f;
	struct table_store store;
};

static int set_up_store(void **state)
{
	struct stored *s = calloc(1, sizeof(*s));
	void *fixture;

	set_up(&fixture);
	s->f = fixture;
	*state = s;
	return 0;
}

static int tear_down_store(void **state)
{
	struct stored *s = *state;
	void *fixture = s->f;

	table_store_release(&s->store);
	free(s);
	return tear_down(&fixture);
}

static struct table_store *begin(void **state)
{
	struct stored *s = *state;

	if (s->f->maps.segments < 0)
		skip();
	assert_null(table_store_init(&s->store, &s->f->maps,
				     (uint64_t)SLABS * UNWIND_SLAB_ROWS * sizeof(uint32_t)));
	return &s->store;
}

/* A table of so many pages, the first of which have so many rows each, of the first of its rules.
 */
static struct unwind_table make_table(uint32_t pages, uint32_t rows, uint32_t row_pages,
				      uint32_t rules)
{
	struct unwind_table t = { .page_count = pages, .row_count = (size_t)rows * row_pages };

	t.pages = calloc(pages, sizeof(*t.pages));
	t.rows = calloc(t.row_count + 1, sizeof(*t.rows));
	for (uint32_t i = 0; i < row_pages; i++)
		t.pages[i] = (struct table_page){ i * rows, rows };
	for (uint32_t i = 0; i < rules; i++)
		assert_true(rule_set_add(&t.rules,
					 &(struct unwind_rule){ .kind = UNWIND_CFA_SP,
								.cfa_offset = (int32_t)i }) >= 0);
	return t;
}

/* Whether it finds room. */
static bool put(struct table_store *s, const struct unwind_table *t, uint32_t user,
		struct stored_table *stored, uint64_t now_ns)
{
	struct error *error = table_store_put(s, t, user, stored, now_ns);

	if (error)
		assert_int_equal(error->kind, ERROR_LIMIT);
	error_free(error);
	return !error;
}

static bool needs_nothing(struct table_store *s, const struct unwind_table *t, uint32_t user,
			  uint64_t now_ns)
{
	struct table_need need = table_store_need(s, t, user, now_ns);

	return !need.slabs && !need.pages;
}

/* Files of holes cost nothing, and have the most pages that a file may have. */
static void test_pages_are_shared(void **state)
{
	const uint32_t quarter = UNWIND_MAX_PAGES / 4;
	struct table_store *s = begin(state);
	struct unwind_table sparse = make_table(quarter, 1, 1, 0), small = make_table(1, 1, 1, 0);
	struct stored_table first, second, other, all;

	assert_true(put(s, &sparse, 7, &first, NOW));
	assert_true(put(s, &sparse, 7, &second, NOW));
	assert_false(put(s, &small, 7, &other, NOW));
	assert_int_equal(table_store_need(s, &sparse, 7, NOW).pages, quarter);
	assert_true(put(s, &sparse, 8, &other, NOW));
	assert_true(put(s, &sparse, 0, &all, NOW));
	assert_false(put(s, &small, 0, &all, NOW));
	/* What was dropped is still his as long as it rests. */
	table_store_drop(s, &first, NOW + 1);
	assert_false(put(s, &small, 7, &first, NOW + REST));
	assert_false(put(s, &small, 0, &first, NOW + REST));
	assert_true(needs_nothing(s, &sparse, 0, NOW + REST));
	assert_true(put(s, &sparse, 0, &first, NOW + REST + 1));
	/* He and two others have all but this: of what he gives back, he has half again. */
	assert_int_equal(table_store_need(s, &small, 7, NOW + REST + 1).pages, quarter / 2 + 1);
	table_store_drop(s, &second, NOW + REST + 1);
	assert_true(needs_nothing(s, &small, 7, NOW + REST + 1));
	assert_false(put(s, &small, 7, &second, NOW + REST + 1));
	assert_true(put(s, &small, 7, &second, NOW + 2 * REST + 1));
	unwind_table_release(&sparse);
	unwind_table_release(&small);
}

/* What is left of a large array lies side by side, although small tables stay that came between. */
static void test_pages_lie_side_by_side(void **state)
{
	struct table_store *s = begin(state);
	struct unwind_table large = make_table(1000, 1, 1, 0), small = make_table(1, 1, 1, 0),
			    half = make_table(UNWIND_MAX_PAGES / 2, 1, 1, 0);
	struct stored_table first, stays, last;

	for (int i = 0; i < 1000; i++) {
		uint64_t now = NOW + (uint64_t)i * 2 * REST;

		assert_true(put(s, &large, 7, &first, now));
		assert_true(put(s, &small, 7, &stays, now));
		table_store_drop(s, &first, now);
	}
	assert_true(put(s, &half, 0, &last, NOW + 2000 * REST));
	unwind_table_release(&large);
	unwind_table_release(&small);
	unwind_table_release(&half);
}

/* A table of a slab, and one of a few rows. */
static void test_slabs_are_shared(void **state)
{
	struct table_store *s = begin(state);
	struct unwind_table slab = make_table(2, UNWIND_SLAB_ROWS / 2, 2, 0),
			    small = make_table(1, 100, 1, 0);
	struct stored_table first, second, other;

	assert_true(put(s, &slab, 7, &first, NOW));
	assert_true(put(s, &small, 7, &second, NOW));
	assert_false(put(s, &slab, 7, &other, NOW));
	assert_int_equal(table_store_need(s, &slab, 7, NOW).slabs, 1);
	/* The rest of his slab is his. */
	assert_true(put(s, &small, 8, &other, NOW));
	assert_int_equal(s->slab_shares.taken, 3);
	assert_true(put(s, &small, 7, &other, NOW));
	assert_int_equal(s->slab_shares.taken, 3);
	/* He has two of four, another one has one: to have one more, he has to give two. */
	assert_int_equal(table_store_need(s, &slab, 7, NOW).slabs, 2);
	table_store_drop(s, &first, NOW + 1);
	assert_int_equal(table_store_need(s, &slab, 7, NOW + REST).slabs, 1);
	assert_int_equal(shares_of(&s->slab_shares, 7), 2);
	assert_true(put(s, &slab, 0, &first, NOW + REST + 1));
	assert_int_equal(shares_of(&s->slab_shares, 7), 1);
	assert_true(put(s, &slab, 0, &first, NOW + REST + 1));
	assert_false(put(s, &slab, 0, &first, NOW + REST + 1));
	/* A slab with few rows cannot be had by others. */
	assert_false(put(s, &small, 9, &other, NOW + REST + 1));
	unwind_table_release(&slab);
	unwind_table_release(&small);
}

/* The first slab is there, and each call that the kernel makes wait brings as many as there were.
 */
static void test_slabs_are_made_ahead(void **state)
{
	const uint32_t counts[] = { 1, 2, 4, 4 };
	struct table_store *s = begin(state);
	struct fixture *f = ((struct stored *)*state)->f;
	struct unwind_table slab = make_table(2, UNWIND_SLAB_ROWS / 2, 2, 0);
	struct stored_table stored;
	uint32_t id, key = 0;

	table_store_reserve(s, NOW);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		assert_true(put(s, &slab, 0, &stored, NOW));
		assert_int_equal(s->slab_count, counts[i]);
	}
	assert_int_not_equal(bpf_map_lookup_elem(f->maps.slabs, &key, &id), 0);
	for (key = 1; key < SLABS; key++)
		assert_int_equal(bpf_map_lookup_elem(f->maps.slabs, &key, &id), 0);
	unwind_table_release(&slab);
}

/* The last slab is had by whoever has none, and he can have it again for another table. */
static void test_the_last_slab(void **state)
{
	struct table_store *s = begin(state);
	struct unwind_table slab = make_table(2, UNWIND_SLAB_ROWS / 2, 2, 0);
	struct stored_table stored;

	for (int i = 0; i < SLABS - 1; i++)
		assert_true(put(s, &slab, 0, &stored, NOW));
	assert_true(put(s, &slab, 7, &stored, NOW));
	assert_false(put(s, &slab, 8, &stored, NOW));
	assert_false(put(s, &slab, 7, &stored, NOW));
	assert_int_equal(table_store_need(s, &slab, 7, NOW).slabs, 1);
	table_store_drop(s, &stored, NOW + 1);
	assert_true(needs_nothing(s, &slab, 7, NOW + 1));
	assert_false(put(s, &slab, 7, &stored, NOW + REST));
	assert_true(put(s, &slab, 7, &stored, NOW + REST + 1));
	unwind_table_release(&slab);
}

/* The rows of all tables are where the kernel half looks for them. */
static void test_rows_are_found(void **state)
{
	struct table_store *s = begin(state);
	struct unwind_table tables[3];
	struct stored_table stored[3];

	for (uint32_t i = 0; i < 3; i++) {
		tables[i] = make_table(3, 30000, 2, 10 + i);
		for (uint32_t j = 0; j < 60000; j++)
			tables[i].rows[j] = (j % 30000) << 16 | (RULE_FIRST_FREE + 9 + i);
		assert_true(put(s, &tables[i], i == 1 ? 7 : 0, &stored[i], NOW));
	}
	for (uint32_t i = 0; i < 3; i++) {
		const struct unwind_segment segment = { .first_page = stored[i].first_page,
							.pages = stored[i].pages };

		for (uint64_t page = 0; page < 2; page++)
			assert_int_equal(
				table_store_rule(s, &segment, page << UNWIND_PAGE_BITS | 77)
					->cfa_offset,
				9 + i);
		assert_null(table_store_rule(s, &segment, 2 << UNWIND_PAGE_BITS));
	}
	for (uint32_t i = 0; i < 3; i++)
		unwind_table_release(&tables[i]);
}

/* They are never given back. */
static void test_rules_are_shared(void **state)
{
	const uint32_t users = UNWIND_MAX_RULES - LIMIT_ROOT_RULES;
	struct table_store *s = begin(state);
	struct unwind_table many = make_table(1, 1, 1, UNWIND_MAX_RULES - RULE_FIRST_FREE),
			    few = make_table(1, 1, 1, users / 4);
	struct stored_table stored;

	assert_true(put(s, &few, 7, &stored, NOW));
	assert_false(stored.lacks_rules);
	assert_true(put(s, &many, 7, &stored, NOW));
	assert_true(stored.lacks_rules);
	assert_true(s->rules.count <= users / 2 + RULE_FIRST_FREE);
	assert_true(put(s, &many, 8, &stored, NOW));
	assert_true(stored.lacks_rules);
	assert_true(s->rules.count > users / 2 + users / 5 && s->rules.count < users);
	assert_true(put(s, &many, 0, &stored, NOW));
	assert_false(stored.lacks_rules);
	assert_int_equal(s->rules.count, UNWIND_MAX_RULES);
	unwind_table_release(&many);
	unwind_table_release(&few);
}

/* How many of the tables are chosen, from the first one on; -1: there is not enough. */
static int chosen(const struct table_store *s, const struct stored_table *tables, size_t n,
		  struct table_need need)
{
	struct table_choice choices[8] = { 0 };
	int dropped = 0;

	for (size_t i = 0; i < n; i++)
		choices[i].table = &tables[i];
	if (!table_store_choose(s, choices, n, &need))
		return -1;
	for (size_t i = 0; i < n; i++)
		dropped += choices[i].drop;
	return dropped;
}

/* Two tables of half a slab each, and two of a slab. */
static void test_what_is_dropped(void **state)
{
	struct table_store *s = begin(state);
	struct unwind_table half = make_table(10, UNWIND_SLAB_ROWS / 2, 1, 0),
			    slab = make_table(20, UNWIND_SLAB_ROWS / 2, 2, 0);
	struct stored_table tables[4];

	assert_true(put(s, &half, 0, &tables[0], NOW));
	assert_true(put(s, &half, 0, &tables[1], NOW));
	assert_true(put(s, &slab, 0, &tables[2], NOW));
	assert_true(put(s, &slab, 0, &tables[3], NOW));
	assert_int_equal(chosen(s, tables, 4, (struct table_need){ 0 }), 0);
	assert_int_equal(chosen(s, tables, 4, (struct table_need){ .pages = 10 }), 1);
	assert_int_equal(chosen(s, tables, 4, (struct table_need){ .pages = 11 }), 2);
	assert_int_equal(chosen(s, tables, 4, (struct table_need){ .pages = 60 }), 4);
	assert_int_equal(chosen(s, tables, 4, (struct table_need){ .pages = 61 }), -1);
	/* A slab is had only when it is empty; who does not empty one stays. */
	assert_int_equal(chosen(s, tables, 1, (struct table_need){ .slabs = 1 }), -1);
	assert_int_equal(chosen(s, tables, 2, (struct table_need){ .slabs = 1 }), 2);
	assert_int_equal(chosen(s, tables + 1, 3, (struct table_need){ .slabs = 1 }), 1);
	assert_int_equal(chosen(s, tables + 1, 3, (struct table_need){ .slabs = 1, .pages = 21 }),
			 2);
	assert_int_equal(chosen(s, tables, 4, (struct table_need){ .slabs = 3 }), 4);
	assert_int_equal(chosen(s, tables, 4, (struct table_need){ .slabs = 4 }), -1);
	unwind_table_release(&half);
	unwind_table_release(&slab);
}

#define STORE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up_store, tear_down_store)

static const struct CMUnitTest tests[] = {
	STORE_TEST(test_pages_are_shared), STORE_TEST(test_pages_lie_side_by_side),
	STORE_TEST(test_slabs_are_shared), STORE_TEST(test_slabs_are_made_ahead),
	STORE_TEST(test_the_last_slab),	   STORE_TEST(test_rows_are_found),
	STORE_TEST(test_rules_are_shared), STORE_TEST(test_what_is_dropped),
};

UNIT_TESTS(tests);
