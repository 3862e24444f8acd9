/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/outermost.h"

#include <stdlib.h>
#include <string.h>

/* The way through the tree of stacks, from each node down. */
struct descent {
	uint32_t *child; /* by node, counted from 1: its first child; the first is the first root */
	uint32_t *sibling; /* by node: the next one with its parent */
	uint32_t *open;	   /* by number: how many nodes of the current stack have it */
};

static bool descent_init(struct descent *d, const struct profile *p, size_t numbers)
{
	d->child = malloc((p->node_count + 1) * sizeof(*d->child));
	d->sibling = malloc((p->node_count + 1) * sizeof(*d->sibling));
	d->open = calloc(numbers + 1, sizeof(*d->open));
	if (!d->child || !d->sibling || !d->open)
		return false;
	memset(d->child, 0xff, (p->node_count + 1) * sizeof(*d->child)); /* PRF_NONE */
	for (uint32_t i = 0; i < p->node_count; i++) {
		uint32_t *first = &d->child[p->nodes[i].parent + 1];

		d->sibling[i] = *first;
		*first = i;
	}
	return true;
}

static void descent_release(struct descent *d)
{
	free(d->child);
	free(d->sibling);
	free(d->open);
}

static void descend(struct descent *d, const struct profile *p, const uint32_t *number,
		    bool *outermost)
{
	uint32_t node = d->child[0], next;

	while (node != PRF_NONE) {
		outermost[node] = number[node] != PRF_NONE && !d->open[number[node]]++;
		next = d->child[node + 1];
		while (next == PRF_NONE && node != PRF_NONE) {
			if (number[node] != PRF_NONE)
				d->open[number[node]]--;
			next = d->sibling[node];
			node = p->nodes[node].parent;
		}
		node = next;
	}
}

bool *outermost_nodes(const struct profile *p, const uint32_t *number, size_t n)
{
	bool *outermost = calloc(p->node_count + 1, sizeof(*outermost));
	struct descent descent;

	if (descent_init(&descent, p, n) && outermost) {
		descend(&descent, p, number, outermost);
	} else {
		free(outermost);
		outermost = NULL;
	}
	descent_release(&descent);
	return outermost;
}
