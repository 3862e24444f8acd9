/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/page/html_calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void html_change_put(struct buffer *out, const struct change *change, int column)
{
	const double numbers[HTML_CHANGE_COLUMNS] = { change->before, change->now, change->low,
						      change->high, change->p };
	float narrow = (float)numbers[column];
	uint32_t bits;

	memcpy(&bits, &narrow, sizeof(bits));
	buffer_u32(out, bits);
}

/* The calls of one comparison, by the numbers of the tree, not of the page. */
struct calls {
	const struct html_compared *compared;
	const struct compared_runs *runs;
	struct change *changes;
	bool *wanted;
};

/* With all that they call: parents have lower numbers. */
static void add_up(const struct call_tree *tree, size_t all, uint64_t *counts)
{
	for (size_t i = tree->count; i-- > 1;)
		for (size_t run = 0; run < all; run++)
			counts[tree->nodes[i].parent * all + run] += counts[i * all + run];
}

static struct error *estimate(struct calls *c)
{
	const struct html_compared *compared = c->compared;
	const struct call_tree *tree = compared->tree;
	size_t n = tree->count, all = c->runs->all;
	uint64_t *counts = calloc(n * all, sizeof(*counts));
	struct error *error;

	c->changes = calloc(n, sizeof(*c->changes));
	c->wanted = calloc(n, sizeof(*c->wanted));
	if (!counts || !c->changes || !c->wanted) {
		free(counts);
		return error_memory();
	}
	compared_runs_count(c->runs, compared->base, 0, compared->base_node_of, counts);
	compared_runs_count(c->runs, compared->now, c->runs->sides[CHANGE_BEFORE].count,
			    compared->node_of, counts);
	add_up(tree, all, counts);
	/* Node 0 stands for all, and is no call. */
	error = compared_runs_estimate(c->runs, c->changes + 1, n - 1, counts + all);
	free(counts);
	return error;
}

static void choose(struct calls *c)
{
	const struct call_tree *tree = c->compared->tree;
	double least = c->runs->totals[CHANGE_NOW] * HTML_CALL_PERCENT / 100;

	for (size_t i = tree->count; i-- > 1;) {
		const struct change *change = &c->changes[i];
		double size = fabs(change->now - change->before);

		c->wanted[i] |= change->sure || (size > 0 && size >= least);
		c->wanted[tree->nodes[i].parent] |= c->wanted[i];
	}
	c->wanted[0] = false;
}

static void put(const struct calls *c, struct buffer *out)
{
	const uint32_t *nodes = c->compared->order->nodes;
	size_t n = c->compared->tree->count, count = 0, before = 0;

	for (size_t i = 0; i < n; i++)
		count += c->wanted[i];
	buffer_uleb(out, count);
	for (size_t i = 0; i < n; i++)
		if (c->wanted[nodes[i]]) {
			buffer_uleb(out, i - before);
			before = i;
		}
	for (size_t i = 0; i < n; i++)
		if (c->wanted[nodes[i]])
			buffer_uleb(out, c->changes[nodes[i]].sure ? HTML_CHANGE_TOTAL : 0);
	for (int column = 0; column < HTML_CHANGE_COLUMNS; column++)
		for (size_t i = 0; i < n; i++)
			if (c->wanted[nodes[i]])
				html_change_put(out, &c->changes[nodes[i]], column);
}

struct error *html_calls_put(struct buffer *out, const struct html_compared *compared,
			     const struct compared_runs *runs)
{
	struct calls c = { .compared = compared, .runs = runs };
	struct error *error = estimate(&c);

	if (!error) {
		choose(&c);
		put(&c, out);
	}
	free(c.changes);
	free(c.wanted);
	return error;
}
