/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/page/call_tree.h"

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

/* A new node `function` below `parent`; PRF_NONE without memory. */
static uint32_t append_child(struct call_tree *t, uint32_t parent, uint32_t function)
{
	if (t->count == PRF_NONE || !array_reserve(&t->nodes, &t->capacity, t->count + 1))
		return PRF_NONE;
	t->nodes[t->count] = (struct call_node){ parent, function };
	return (uint32_t)t->count++;
}

/* The node `function` below `parent`, of an indexed tree; PRF_NONE without memory. */
static uint32_t child_of(struct call_tree *t, uint32_t parent, uint32_t function)
{
	uint32_t node = pairs_put(&t->ids, parent, function);

	return node == t->count ? append_child(t, parent, function) : node;
}

/* So that nodes can be found. False without memory. */
static bool index_nodes(struct call_tree *t)
{
	for (size_t i = t->ids.count; i < t->count; i++)
		if (pairs_put(&t->ids, t->nodes[i].parent, t->nodes[i].function) != i)
			return false;
	return true;
}

/*
 * State while the threads of a command are added; commands are added one at a time. The profile's
 * own stacks are made a tree of functions before, which all commands share: below each of them a
 * node of it is met once, so that only the first one of two profiles needs no index.
 */
struct adding {
	struct call_tree *tree;
	const struct profile *profile;
	bool indexed;	       /* another profile was added before */
	uint32_t *function_of; /* per frame */
	struct pairs shared;   /* (parent, function) of the shared tree; PRF_NONE: a root */
	uint32_t *shared_of;   /* per profile node */
	uint32_t *known;       /* per shared node: its tree node, ... */
	uint32_t *epoch;       /* ... if this is the command's number */
	uint32_t *path;
	uint32_t command; /* counted from 1 */
	uint32_t root;	  /* the command's own node; 0 where stacks have one already */
};

/* Makes the shared tree. False without memory. */
static bool share_stacks(struct adding *a)
{
	const struct profile *p = a->profile;

	for (size_t i = 0; i < p->node_count; i++) {
		uint32_t parent = p->nodes[i].parent;

		a->shared_of[i] = pairs_put(&a->shared,
					    parent == PRF_NONE ? PRF_NONE : a->shared_of[parent],
					    a->function_of[p->nodes[i].frame]);
		if (a->shared_of[i] == UINT32_MAX)
			return false;
	}
	return true;
}

static uint32_t add_child(struct adding *a, uint32_t parent, uint32_t function)
{
	return a->indexed ? child_of(a->tree, parent, function)
			  : append_child(a->tree, parent, function);
}

/* The node of a stack of the shared tree; PRF_NONE without memory. */
static uint32_t add_stack(struct adding *a, uint32_t shared)
{
	uint32_t at = a->root;
	size_t n = 0;

	for (; shared != PRF_NONE; shared = (uint32_t)a->shared.pairs[shared].a) {
		if (a->epoch[shared] == a->command) {
			at = a->known[shared];
			break;
		}
		a->path[n++] = shared;
	}
	while (n-- && at != PRF_NONE) {
		shared = a->path[n];
		at = add_child(a, at, (uint32_t)a->shared.pairs[shared].b);
		a->known[shared] = at;
		a->epoch[shared] = a->command;
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
	a->root = add_child(a, 0, function);
	return a->root != PRF_NONE ? NULL : error_memory();
}

static struct error *add_thread(struct adding *a, const struct threads *threads,
				const struct thread *thread, uint32_t *of_entry)
{
	const struct profile_entry *entries = a->profile->entries;
	const uint32_t *shared_of = a->shared_of, *epoch = a->epoch, *known = a->known;
	const uint32_t command = a->command, *order = threads->entries + thread->first;

	for (size_t i = 0, n = thread->count; i < n; i++) {
		uint32_t entry = order[i], node = entries[entry].node;
		uint32_t shared = node == PRF_NONE ? PRF_NONE : shared_of[node];

		/* Most stacks were met before. */
		if (shared != PRF_NONE && epoch[shared] == command) {
			of_entry[entry] = known[shared];
			continue;
		}
		of_entry[entry] = add_stack(a, shared);
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

struct error *call_tree_add(struct call_tree *t, const struct profile *p,
			    const struct threads *threads, uint32_t **of_entry)
{
	struct adding a = { .tree = t, .profile = p, .command = p->led, .indexed = t->count > 0 };
	uint32_t *nodes = calloc(p->entry_count + 1, sizeof(*nodes));
	struct error *error = error_memory();

	*of_entry = NULL;
	a.shared_of = calloc(p->node_count + 1, sizeof(*a.shared_of));
	a.known = calloc(p->node_count + 1, sizeof(*a.known));
	a.epoch = calloc(p->node_count + 1, sizeof(*a.epoch));
	a.path = calloc(profile_depth(p) + 1, sizeof(*a.path));
	if (!nodes || !a.shared_of || !a.known || !a.epoch || !a.path ||
	    (a.indexed ? !index_nodes(t) : append_child(t, PRF_NONE, PRF_NONE) == PRF_NONE))
		goto out;
	error = functions_add(&t->functions, p, &a.function_of);
	if (!error && !share_stacks(&a))
		error = error_memory();
	if (!error)
		error = add_all(&a, threads, nodes);
out:
	pairs_release(&a.shared);
	free(a.shared_of);
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

/* By what siblings are sorted. */
struct sibling_order {
	const struct call_node *nodes;
	const uint32_t *function_rank;
};

static int compare_siblings(const void *left, const void *right, void *context)
{
	const struct sibling_order *by = context;
	uint32_t a = by->function_rank[by->nodes[*(const uint32_t *)left].function];
	uint32_t b = by->function_rank[by->nodes[*(const uint32_t *)right].function];

	return (a > b) - (a < b);
}

/*
 * Fills `children` with all nodes but 0: those of node i stand in the order of their functions'
 * ranks from first[i] up to first[i + 1]. `first` is all 0 before, with room for count + 2.
 */
static void sort_children(const struct call_tree *t, const uint32_t *function_rank,
			  uint32_t *children, uint32_t *first)
{
	struct sibling_order by = { t->nodes, function_rank };

	for (size_t i = 1; i < t->count; i++)
		first[t->nodes[i].parent + 2]++;
	for (size_t i = 1; i <= t->count; i++)
		first[i + 1] += first[i];
	/* first[i + 1] goes from the begin of i's children to their end, where those of i + 1
	 * begin. */
	for (uint32_t i = 1; i < t->count; i++)
		children[first[t->nodes[i].parent + 1]++] = i;
	for (size_t i = 0; i < t->count; i++)
		if (first[i + 1] - first[i] > 1)
			qsort_r(children + first[i], first[i + 1] - first[i], sizeof(*children),
				compare_siblings, &by);
}

/* Walks depth first. `stack` has room for all nodes. */
static void walk(const struct call_tree *t, const uint32_t *children, const uint32_t *first,
		 uint32_t *stack, struct call_order *o)
{
	size_t n = 0, placed = 0;

	stack[n++] = 0;
	while (n) {
		uint32_t node = stack[--n];

		o->node_rank[node] = (uint32_t)placed;
		o->nodes[placed++] = node;
		for (uint32_t c = first[node + 1]; c > first[node]; c--)
			stack[n++] = children[c - 1];
	}
}

struct error *call_tree_order(const struct call_tree *t, struct call_order *o)
{
	uint32_t *children = calloc(t->count + 1, sizeof(*children));
	uint32_t *first = calloc(t->count + 2, sizeof(*first));
	uint32_t *stack = calloc(t->count + 1, sizeof(*stack));
	struct error *error = NULL;

	*o = (struct call_order){
		.functions = calloc(t->functions.count + 1, sizeof(uint32_t)),
		.function_rank = calloc(t->functions.count + 1, sizeof(uint32_t)),
		.nodes = calloc(t->count + 1, sizeof(uint32_t)),
		.node_rank = calloc(t->count + 1, sizeof(uint32_t)),
	};
	if (!children || !first || !stack || !o->functions || !o->function_rank || !o->nodes ||
	    !o->node_rank) {
		call_order_release(o);
		error = error_memory();
	} else {
		order_functions(t, o);
		sort_children(t, o->function_rank, children, first);
		walk(t, children, first, stack, o);
	}
	free(children);
	free(first);
	free(stack);
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
