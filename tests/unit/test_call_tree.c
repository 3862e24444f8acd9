/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile_fixture.h"
#include "report/page/call_tree.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

static const char *name_of(const struct call_tree *t, uint32_t node)
{
	return t->functions.list[t->nodes[node].function].name;
}

/* "leaf,caller,...,command" of a node. */
static void expect_path(const struct call_tree *t, uint32_t node, const char *expected)
{
	struct buffer path = { 0 };

	for (; node; node = t->nodes[node].parent)
		buffer_printf(&path, "%s%s", path.size ? "," : "", name_of(t, node));
	assert_string_equal(buffer_string(&path), expected);
	buffer_release(&path);
}

/* A tree of one profile. */
struct grown {
	struct threads threads;
	struct call_tree tree;
	struct call_order order;
	uint32_t *of_entry;
};

static void grow(struct grown *g, const struct profile *p)
{
	g->tree = (struct call_tree){ 0 };
	assert_no_error(threads_init(&g->threads, p));
	assert_no_error(call_tree_add(&g->tree, p, &g->threads, &g->of_entry));
	assert_no_error(call_tree_order(&g->tree, &g->order));
}

static void fell(struct grown *g)
{
	call_order_release(&g->order);
	free(g->of_entry);
	threads_release(&g->threads);
	call_tree_release(&g->tree);
}

static void commands_stand_at_the_root(void **state)
{
	struct grown g;

	grow(&g, &fixture);
	expect_path(&g.tree, g.of_entry[0], "main,</script>");
	expect_path(&g.tree, g.of_entry[1], "leaf,middle,main,server");
	expect_path(&g.tree, g.of_entry[3], "ksys_write,write,main,server");
	expect_path(&g.tree, g.of_entry[5], "server");
	assert_int_equal(g.of_entry[1], g.of_entry[2]);
	fell(&g);
}

static void preorder_by_name(void **state)
{
	static const char *const expected[] = { "",	"</script>",	"main",		"server",
						"main", FIXTURE_SCRIPT, FIXTURE_BROKEN, "middle",
						"leaf", "write",	"ksys_write" };
	const struct call_order *order;
	const struct function *list;
	struct grown g;

	grow(&g, &fixture);
	order = &g.order;
	list = g.tree.functions.list;
	assert_int_equal(g.tree.count, COUNT(expected));
	for (uint32_t i = 0; i < g.tree.count; i++) {
		assert_int_equal(order->node_rank[order->nodes[i]], i);
		if (i)
			assert_string_equal(name_of(&g.tree, order->nodes[i]), expected[i]);
	}
	for (uint32_t i = 1; i < g.tree.functions.count; i++)
		assert_true(strcmp(list[order->functions[i - 1]].name,
				   list[order->functions[i]].name) <= 0);
	fell(&g);
}

/* Many nodes, so that the index grows; the second time, all are there. */
static void equal_stacks_are_equal_nodes(void **state)
{
	enum { N = 5000 };
	struct profile_node *nodes = calloc(N, sizeof(*nodes));
	struct profile_entry *entries = calloc(N, sizeof(*entries));
	struct profile p = fixture;
	struct call_tree t = { 0 };
	struct threads threads;
	uint32_t *first, *second;
	size_t count;

	for (uint32_t i = 0; i < N; i++) {
		nodes[i] = (struct profile_node){ i ? (i - 1) / 3 : PRF_NONE, i % FRAMES, 1 };
		if (i)
			nodes[i].depth = nodes[nodes[i].parent].depth + 1;
		entries[i] = (struct profile_entry){ 1, 0, i, 1, 1 };
	}
	p.nodes = nodes;
	p.entries = entries;
	p.node_count = p.entry_count = N;
	assert_no_error(threads_init(&threads, &p));
	assert_no_error(call_tree_add(&t, &p, &threads, &first));
	count = t.count;
	assert_no_error(call_tree_add(&t, &p, &threads, &second));
	assert_int_equal(t.count, count);
	assert_memory_equal(first, second, N * sizeof(*first));
	for (uint32_t i = 1; i < t.count; i++)
		assert_true(t.nodes[i].parent < i);
	free(first);
	free(second);
	free(nodes);
	free(entries);
	threads_release(&threads);
	call_tree_release(&t);
}

static void an_empty_profile_is_only_the_root(void **state)
{
	struct grown g;

	grow(&g, &fixture_empty);
	assert_int_equal(g.tree.count, 1);
	fell(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(commands_stand_at_the_root),
	cmocka_unit_test(preorder_by_name),
	cmocka_unit_test(equal_stacks_are_equal_nodes),
	cmocka_unit_test(an_empty_profile_is_only_the_root),
};

UNIT_TESTS(tests);
