/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/call_tree.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

void call_tree_release(struct call_tree *t)
{
	functions_release(&t->functions);
	free(t->nodes);
	pairs_release(&t->ids);
	*t = (struct call_tree){ .functions = t->functions };
}

/* The node `function` below `parent`; PRF_NONE without memory. */
static uint32_t child_of(struct call_tree *t, uint32_t parent, uint32_t function)
{
	uint32_t node = PRF_NONE;

	if (array_reserve(&t->nodes, &t->capacity, t->count + 1))
		node = pairs_put(&t->ids, parent, function);
	if (node == t->count)
		t->nodes[t->count++] = (struct call_node){ parent, function };
	return node;
}

/* State while the threads of a command are added; commands are added one at a time. */
struct adding {
	struct call_tree *tree;
	const struct profile *profile;
	uint32_t *function_of; /* per frame */
	uint32_t *known;       /* per profile node: its tree node, ... */
	uint32_t *epoch;       /* ... if this is the command's number */
	uint32_t *path;
	uint32_t command; /* counted from 1 */
	uint32_t root;	  /* the command's own node; 0 where stacks have one already */
};

static uint32_t add_stack(struct adding *a, uint32_t node)
{
	const struct profile_node *nodes = a->profile->nodes;
	uint32_t at = a->root;
	size_t n = 0;

	for (; node != PRF_NONE; node = nodes[node].parent) {
		if (a->epoch[node] == a->command) {
			at = a->known[node];
			break;
		}
		a->path[n++] = node;
	}
	while (n-- && at != PRF_NONE) {
		node = a->path[n];
		at = child_of(a->tree, at, a->function_of[nodes[node].frame]);
		a->known[node] = at;
		a->epoch[node] = a->command;
	}
	return at;
}

static struct error *add_command(struct adding *a, const char *comm)
{
	struct function command = {
		.name = comm,
		.linkage_name = "",
		.object = "",
		.file = "",
		.kind = PROFILE_FRAME_GROUP,
	};
	uint32_t function;
	struct error *error = functions_add_one(&a->tree->functions, &command, &function);

	if (error)
		return error;
	a->command++;
	a->root = child_of(a->tree, 0, function);
	return a->root != PRF_NONE ? NULL : error_memory();
}

static struct error *add_thread(struct adding *a, const struct threads *threads,
				const struct thread *thread, uint32_t *of_entry)
{
	for (size_t i = thread->first; i < thread->first + thread->count; i++) {
		uint32_t entry = threads->entries[i];

		of_entry[entry] = add_stack(a, a->profile->entries[entry].node);
		if (of_entry[entry] == PRF_NONE)
			return error_memory();
	}
	return NULL;
}

static int compare_commands(const void *left, const void *right, void *context)
{
	const struct threads *threads = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = strcmp(threads->list[a].group->comm, threads->list[b].group->comm);

	return order ? order : a < b ? -1 : a > b;
}

static struct error *add_all(struct adding *a, const struct threads *threads, uint32_t *of_entry)
{
	uint32_t *order = calloc(threads->count + 1, sizeof(*order));
	const char *comm = NULL;
	struct error *error = order ? NULL : error_memory();

	for (uint32_t i = 0; order && i < threads->count; i++)
		order[i] = i;
	if (order)
		qsort_r(order, threads->count, sizeof(*order), compare_commands, (void *)threads);
	for (size_t i = 0; !error && i < threads->count; i++) {
		const struct thread *thread = &threads->list[order[i]];

		if (!a->profile->led && (!comm || strcmp(comm, thread->group->comm)))
			error = add_command(a, thread->group->comm);
		comm = thread->group->comm;
		if (!error)
			error = add_thread(a, threads, thread, of_entry);
	}
	free(order);
	return error;
}

static size_t deepest(const struct profile *p)
{
	size_t depth = 0;

	for (size_t i = 0; i < p->node_count; i++)
		depth = p->nodes[i].depth > depth ? p->nodes[i].depth : depth;
	return depth;
}

struct error *call_tree_add(struct call_tree *t, const struct profile *p,
			    const struct threads *threads, uint32_t **of_entry)
{
	struct adding a = { .tree = t, .profile = p, .command = p->led };
	uint32_t *nodes = calloc(p->entry_count + 1, sizeof(*nodes));
	struct error *error = error_memory();

	*of_entry = NULL;
	a.known = calloc(p->node_count + 1, sizeof(*a.known));
	a.epoch = calloc(p->node_count + 1, sizeof(*a.epoch));
	a.path = calloc(deepest(p) + 1, sizeof(*a.path));
	if (!t->count)
		child_of(t, PRF_NONE, PRF_NONE);
	if (!nodes || !a.known || !a.epoch || !a.path || !t->count)
		goto out;
	error = functions_add(&t->functions, p, &a.function_of);
	if (!error)
		error = add_all(&a, threads, nodes);
out:
	free(a.known);
	free(a.epoch);
	free(a.path);
	free(a.function_of);
	if (error)
		free(nodes);
	else
		*of_entry = nodes;
	return error;
}

/* -------- order -------- */

static int compare_functions(const void *left, const void *right, void *context)
{
	const struct function *list = context;
	uint32_t ai = *(const uint32_t *)left, bi = *(const uint32_t *)right;
	const struct function *a = &list[ai], *b = &list[bi];
	int order = strcmp(a->name, b->name);

	if (!order)
		order = strcmp(a->object, b->object);
	if (!order)
		order = a->kind != b->kind ? a->kind - b->kind : a->inlined - b->inlined;
	return order ? order : ai < bi ? -1 : ai > bi;
}

static void order_functions(const struct call_tree *t, struct call_order *o)
{
	for (uint32_t i = 0; i < t->functions.count; i++)
		o->functions[i] = i;
	qsort_r(o->functions, t->functions.count, sizeof(*o->functions), compare_functions,
		t->functions.list);
	for (uint32_t i = 0; i < t->functions.count; i++)
		o->function_rank[o->functions[i]] = i;
}

/* By what nodes are sorted. */
struct sort_key {
	const struct call_tree *tree;
	const uint32_t *function_rank; /* by their functions' ranks; NULL: by their parents */
	size_t limit;		       /* all keys are below it */
};

static uint32_t key_of(const struct sort_key *key, uint32_t node)
{
	const struct call_node *n = &key->tree->nodes[node];

	return key->function_rank ? key->function_rank[n->function] : n->parent;
}

/* Sorts nodes 1... into `out`, where equal ones keep the order of `in` (NULL: by number). */
static struct error *counting_sort(const struct sort_key *key, const uint32_t *in, uint32_t *out)
{
	size_t *at = calloc(key->limit + 2, sizeof(*at));

	if (!at)
		return error_memory();
	for (uint32_t i = 1; i < key->tree->count; i++)
		at[key_of(key, i) + 1]++;
	for (size_t i = 0; i < key->limit; i++)
		at[i + 1] += at[i];
	for (uint32_t i = 1; i < key->tree->count; i++) {
		uint32_t node = in ? in[i - 1] : i;

		out[at[key_of(key, node)]++] = node;
	}
	free(at);
	return NULL;
}

/*
 * `children`: the nodes sorted by parent, then function. Nodes with the same parent follow
 * each other; walks them depth first.
 */
static struct error *order_nodes(const struct call_tree *t, const uint32_t *children,
				 struct call_order *o)
{
	uint32_t *stack = calloc(t->count + 1, sizeof(*stack));
	uint32_t *first = calloc(t->count + 2, sizeof(*first));
	size_t n = 0, placed = 0;

	if (!stack || !first) {
		free(stack);
		free(first);
		return error_memory();
	}
	for (size_t i = 1; i < t->count; i++)
		first[t->nodes[i].parent + 1]++;
	for (size_t i = 0; i < t->count; i++)
		first[i + 1] += first[i];
	stack[n++] = 0;
	while (n) {
		uint32_t node = stack[--n];

		o->node_rank[node] = (uint32_t)placed;
		o->nodes[placed++] = node;
		for (uint32_t c = first[node + 1]; c > first[node]; c--)
			stack[n++] = children[c - 1];
	}
	free(stack);
	free(first);
	return NULL;
}

struct error *call_tree_order(const struct call_tree *t, struct call_order *o)
{
	uint32_t *by_function = calloc(t->count + 1, sizeof(*by_function));
	uint32_t *by_parent = calloc(t->count + 1, sizeof(*by_parent));
	const struct sort_key parent = { .tree = t, .limit = t->count };
	struct sort_key function = { .tree = t, .limit = t->functions.count };
	struct error *error = error_memory();

	*o = (struct call_order){
		.functions = calloc(t->functions.count + 1, sizeof(uint32_t)),
		.function_rank = calloc(t->functions.count + 1, sizeof(uint32_t)),
		.nodes = calloc(t->count + 1, sizeof(uint32_t)),
		.node_rank = calloc(t->count + 1, sizeof(uint32_t)),
	};
	function.function_rank = o->function_rank;
	if (!by_function || !by_parent || !o->functions || !o->function_rank || !o->nodes ||
	    !o->node_rank)
		goto out;
	order_functions(t, o);
	error = counting_sort(&function, NULL, by_function);
	if (!error)
		error = counting_sort(&parent, by_function, by_parent);
	if (!error)
		error = order_nodes(t, by_parent, o);
out:
	free(by_function);
	free(by_parent);
	if (error)
		call_order_release(o);
	return error;
}

void call_order_release(struct call_order *o)
{
	free(o->functions);
	free(o->function_rank);
	free(o->nodes);
	free(o->node_rank);
	*o = (struct call_order){ 0 };
}
