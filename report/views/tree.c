/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/tree.h"

#include "report/output/fitted.h"
#include "report/merge/frame_table.h"
#include "report/merge/label.h"
#include "report/difference/change_columns.h"
#include "report/tables/frame_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below this share a call is not shown unless --min says otherwise. */
#define DEFAULT_MIN_PERCENT 0.5

/* What was counted in a call, and where its children begin in tree.order. */
struct branch {
	uint64_t self, total;
	uint32_t first, count;
};

/* The call that a node of the profile became, by the leading frames that it was below last. */
struct reached {
	uint32_t leading, call; /* PRF_NONE: no call yet */
};

struct tree {
	const struct profile *profile;
	const struct view_options *options;
	struct text_pool texts;
	struct node_tree calls;	 /* node.frame is a text */
	uint32_t *text_of;	 /* of each frame of the profile */
	struct reached *reached; /* of each node of the profile */
	uint32_t *path;		 /* room for the deepest stack */
	struct branch *branches; /* one more than calls: the last stands for all */
	uint32_t *order;
	double least; /* value below which a call is left out */
	bool *wanted; /* of each call */
	/* Where runs are compared. */
	struct compared_runs runs;
	struct change_columns columns; /* without runs: nothing is compared */
	struct change *changes;	       /* of each call's total */
};

static void tree_release(struct tree *t)
{
	text_pool_release(&t->texts);
	node_tree_release(&t->calls);
	free(t->text_of);
	free(t->reached);
	free(t->path);
	free(t->branches);
	free(t->order);
	free(t->wanted);
	compared_runs_release(&t->runs);
	free(t->changes);
}

/* -------- calls -------- */

static bool name_frames(struct tree *t)
{
	const struct profile *p = t->profile;
	struct buffer label = { 0 };
	bool ok;

	t->text_of = malloc((p->frame_count + 1) * sizeof(*t->text_of));
	ok = t->text_of;
	for (size_t i = 0; ok && i < p->frame_count; i++) {
		buffer_clear(&label);
		frame_text(&label, p, &p->frames[i], t->options);
		t->text_of[i] = text_pool_add(&t->texts, buffer_string(&label));
		ok = buffer_ok(&label) && t->text_of[i] != UINT32_MAX;
	}
	buffer_release(&label);
	return ok;
}

/*
 * Adds the leading frames of an entry; `at` gets the node of the last one, PRF_NONE if there is
 * none. False without memory.
 */
static bool add_leading(struct tree *t, const struct profile_entry *e, uint32_t *at)
{
	struct buffer label = { 0 };
	bool ok = true;

	*at = PRF_NONE;
	for (size_t i = 0; ok && i < VIEW_LEADING_MAX && t->options->leading[i]; i++) {
		uint32_t text;

		buffer_clear(&label);
		label_group(&label, t->profile, e, t->options->leading[i]);
		text = text_pool_add(&t->texts, buffer_string(&label));
		ok = buffer_ok(&label) && text != UINT32_MAX;
		if (ok)
			*at = node_tree_add(&t->calls, *at, text);
		ok = ok && *at != PRF_NONE;
	}
	buffer_release(&label);
	return ok;
}

/*
 * Adds an entry's stack; frames with equal text become one call. `at` gets the entry's last call.
 * False without memory.
 */
static bool add_entry(struct tree *t, const struct profile_entry *e, uint32_t *at)
{
	const struct profile_node *nodes = t->profile->nodes;
	uint32_t leading, node = e->node;
	size_t n = 0;

	if (!add_leading(t, e, &leading))
		return false;
	*at = leading;
	/* Most entries share all but their last frames with one before. */
	for (; node != PRF_NONE; node = nodes[node].parent) {
		if (t->reached[node].call != PRF_NONE && t->reached[node].leading == leading) {
			*at = t->reached[node].call;
			break;
		}
		t->path[n++] = node;
	}
	while (n) {
		node = t->path[--n];
		*at = node_tree_add(&t->calls, *at, t->text_of[nodes[node].frame]);
		if (*at == PRF_NONE)
			return false;
		t->reached[node] = (struct reached){ leading, *at };
	}
	return true;
}

static uint32_t parent_of(const struct tree *t, size_t call)
{
	uint32_t parent = t->calls.nodes[call].parent;

	return parent == PRF_NONE ? (uint32_t)t->calls.count : parent;
}

static bool add_up(struct tree *t, const uint32_t *ends)
{
	const struct profile *p = t->profile;

	t->branches = calloc(t->calls.count + 1, sizeof(*t->branches));
	if (!t->branches)
		return false;
	for (size_t i = 0; i < p->entry_count; i++) {
		uint32_t at = ends[i] == PRF_NONE ? (uint32_t)t->calls.count : ends[i];

		t->branches[at].self += p->entries[i].value;
		t->branches[at].total += p->entries[i].value;
	}
	for (size_t i = t->calls.count; i-- > 0;)
		t->branches[parent_of(t, i)].total += t->branches[i].total;
	return true;
}

/* What each call has in each run, [call][run]. */
static void count_runs(const struct tree *t, const uint32_t *ends, uint64_t *counts)
{
	const size_t all = t->runs.all;

	compared_runs_count(&t->runs, t->profile, 0, ends, counts);
	for (size_t i = t->calls.count; i-- > 0;) {
		uint32_t parent = t->calls.nodes[i].parent;

		for (size_t run = 0; parent != PRF_NONE && run < all; run++)
			counts[parent * all + run] += counts[i * all + run];
	}
}

static bool find_changes(struct tree *t, const uint32_t *ends)
{
	size_t n = t->calls.count;
	uint64_t *counts = calloc(n * t->runs.all + 1, sizeof(*counts));
	bool ok;

	t->changes = calloc(n + 1, sizeof(*t->changes));
	ok = counts && t->changes;
	if (ok) {
		count_runs(t, ends, counts);
		ok = !error_ignore(compared_runs_estimate(&t->runs, t->changes, n, counts));
	}
	free(counts);
	return ok;
}

static bool add_entries(struct tree *t)
{
	const struct profile *p = t->profile;
	uint32_t *ends = malloc((p->entry_count + 1) * sizeof(*ends));
	bool ok;

	t->path = malloc((profile_depth(p) + 1) * sizeof(*t->path));
	t->reached = malloc((p->node_count + 1) * sizeof(*t->reached));
	ok = ends && t->path && t->reached;
	if (ok) /* PRF_NONE */
		memset(t->reached, 0xff, p->node_count * sizeof(*t->reached));
	for (size_t i = 0; ok && i < p->entry_count; i++)
		ok = add_entry(t, &p->entries[i], &ends[i]);
	ok = ok && add_up(t, ends) && (!t->columns.runs || find_changes(t, ends));
	free(ends);
	return ok;
}

/* -------- which are shown -------- */

/* Calls that surely changed; with --min also those that changed by that part of all. */
static bool has_changed(const struct tree *t, size_t call)
{
	const struct change *c = &t->changes[call];
	double least = t->profile->min_percent / 100 * t->runs.totals[CHANGE_NOW];

	return c->sure || (t->profile->min_percent >= 0 && fabs(c->now - c->before) >= least);
}

static bool choose_calls(struct tree *t)
{
	size_t n = t->calls.count;

	t->wanted = calloc(n + 1, sizeof(*t->wanted));
	if (!t->wanted)
		return false;
	/* With a call those that lead to it: parents have lower numbers. */
	for (size_t i = n; i-- > 0;) {
		t->wanted[i] |= t->changes ? has_changed(t, i)
					   : (double)t->branches[i].total >= t->least;
		t->wanted[parent_of(t, i)] |= t->wanted[i];
	}
	return true;
}

/* -------- order -------- */

/* What is large comes first. */
static double weight(const struct tree *t, uint32_t call)
{
	if (t->changes)
		return fabs(t->changes[call].now - t->changes[call].before);
	return (double)t->branches[call].total;
}

static int compare_calls(const void *left, const void *right, void *context)
{
	const struct tree *t = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	double x = weight(t, a), y = weight(t, b);

	if (x != y)
		return x > y ? -1 : 1;
	return strcmp(text_pool_get(&t->texts, t->calls.nodes[a].frame),
		      text_pool_get(&t->texts, t->calls.nodes[b].frame));
}

/* Puts the children of each call that are shown together, the largest first. */
static bool order_calls(struct tree *t)
{
	size_t n = t->calls.count;
	uint32_t at = 0;

	t->order = malloc((n + 1) * sizeof(*t->order));
	if (!t->order)
		return false;
	for (size_t i = 0; i < n; i++)
		if (t->wanted[i])
			t->branches[parent_of(t, i)].count++;
	for (size_t i = 0; i <= n; i++) {
		t->branches[i].first = at;
		at += t->branches[i].count;
		t->branches[i].count = 0;
	}
	for (size_t i = 0; i < n; i++) {
		struct branch *parent = &t->branches[parent_of(t, i)];

		if (t->wanted[i])
			t->order[parent->first + parent->count++] = (uint32_t)i;
	}
	for (size_t i = 0; i <= n; i++)
		if (t->branches[i].count > 1)
			qsort_r(t->order + t->branches[i].first, t->branches[i].count,
				sizeof(*t->order), compare_calls, t);
	return true;
}

/* -------- writing -------- */

/* What stands before the name and its indent. */
#define TREE_COLUMNS 30
#define TREE_COUNT 6 /* columns of the number of bars that have no room: as many as three bars */

static double percent(const struct tree *t, uint64_t value)
{
	return t->profile->total ? 100.0 * (double)value / (double)t->profile->total : 0;
}

/*
 * A call's name, below a bar for each of its callers that has other calls, too. Where that leaves
 * no room for the name, the outermost bars are counted: "+12".
 */
static void text_name(const struct tree *t, struct sink *s, uint32_t call, uint32_t bars,
		      unsigned int used)
{
	unsigned int room = fitted_room(t->options->width, used), most = (room - FITTED_LEAST) / 2;

	if (room && bars > most) {
		most -= most < TREE_COUNT / 2 ? most : TREE_COUNT / 2;
		sink_printf(s, "+%-*u ", TREE_COUNT - 2, bars - most);
		room -= TREE_COUNT;
		bars = most;
	}
	for (uint32_t i = 0; i < bars; i++)
		sink_text(s, "| ");
	fitted_text(s, text_pool_get(&t->texts, t->calls.nodes[call].frame),
		    room ? room - 2 * bars : 0);
	sink_char(s, '\n');
}

static void text_change(const struct tree *t, struct sink *s, uint32_t call, uint32_t indent)
{
	change_write(&t->columns, s, &t->changes[call], NULL);
	sink_text(s, "  ");
	text_name(t, s, call, indent, change_width(&t->columns) + 2);
}

static void text_call(const struct tree *t, struct sink *s, uint32_t call, uint32_t indent)
{
	const struct branch *b = &t->branches[call];
	double share = percent(t, b->total);
	const char *colour = !t->options->colour ? ""
			     : share >= 5	 ? "\033[31m"
			     : share >= 0.5	 ? "\033[32m"
						 : "";

	sink_printf(s, "%s%6.2f%s %10" PRIu64 " %10" PRIu64 "  ", colour, share,
		    *colour ? "\033[m" : "", b->total, b->self);
	text_name(t, s, call, indent, TREE_COLUMNS);
}

static void json_call(const struct tree *t, struct sink *s, uint32_t call)
{
	const struct branch *b = &t->branches[call];

	sink_text(s, "{\"name\": ");
	sink_json_string(s, text_pool_get(&t->texts, t->calls.nodes[call].frame));
	if (t->changes) {
		sink_text(s, ", \"total\": ");
		change_json(s, &t->changes[call]);
		sink_text(s, ", \"calls\": [");
		return;
	}
	sink_printf(s,
		    ", \"self\": %" PRIu64 ", \"total\": %" PRIu64
		    ", \"percent\": %.4f, \"calls\": [",
		    b->self, b->total, percent(t, b->total));
}

/* A call with a single callee that holds all of it does not push that to the right. */
static bool is_chain(const struct tree *t, uint32_t call)
{
	const struct branch *b = &t->branches[call];

	return b->count == 1 && t->branches[t->order[b->first]].total == b->total;
}

struct level {
	uint32_t call; /* whose children are being written */
	uint32_t next;
	uint32_t indent;
};

/* From the top down; no recursion, as stacks may be deep. */
static struct error *walk(const struct tree *t, struct sink *s)
{
	struct level *levels = malloc((t->calls.count + 2) * sizeof(*levels));
	size_t depth = 1;

	if (!levels)
		return error_memory();
	levels[0] = (struct level){ .call = (uint32_t)t->calls.count };
	while (depth) {
		struct level *at = &levels[depth - 1];
		const struct branch *b = &t->branches[at->call];
		uint32_t call;

		if (at->next == b->count) {
			if (--depth && t->options->json)
				sink_text(s, "]}");
			continue;
		}
		call = t->order[b->first + at->next];
		if (t->options->json) {
			sink_text(s, at->next ? ",\n" : "\n");
			json_call(t, s, call);
		} else if (t->changes) {
			text_change(t, s, call, at->indent);
		} else {
			text_call(t, s, call, at->indent);
		}
		at->next++;
		levels[depth] = (struct level){ call, 0, at->indent + !is_chain(t, call) };
		depth++;
	}
	free(levels);
	return NULL;
}

static struct error *write_changes(const struct tree *t, struct sink *s)
{
	struct error *error;

	if (t->options->json) {
		sink_text(s, "{\n");
		change_json_runs(s, &t->runs);
		sink_text(s, "\"calls\": [");
	} else {
		change_summary(&t->columns, s);
		if (t->profile->min_percent < 0)
			sink_text(s, "# calls that have not surely changed are not shown; --min=1 "
				     "shows changes by 1 % of all\n");
		change_heading(&t->columns, s);
		sink_text(s, "  call\n");
	}
	error = walk(t, s);
	if (t->options->json)
		sink_text(s, "\n]\n}\n");
	return error;
}

static struct error *write_tree(const struct tree *t, struct sink *s)
{
	const struct profile *p = t->profile;
	struct error *error;

	if (t->options->json) {
		sink_printf(s, "{\"samples\": %" PRIu64 ", \"total\": %" PRIu64 ", \"unit\": ",
			    p->samples, p->total);
		sink_json_string(s, p->unit);
		sink_printf(s, ", \"lost\": %" PRIu64 ", \"calls\": [", p->lost);
	} else {
		sink_printf(s, "# %" PRIu64 " samples, %" PRIu64 " lost", p->samples, p->lost);
		if (t->least > 0)
			sink_printf(s, "; calls below %.3g %% are not shown",
				    p->min_percent < 0 ? DEFAULT_MIN_PERCENT : p->min_percent);
		sink_printf(s, "\n%6s ", "%");
		fitted_right(s, p->unit, 10);
		sink_printf(s, " %10s\n", "self");
	}
	error = walk(t, s);
	if (t->options->json)
		sink_text(s, "]}\n");
	return error;
}

static struct error *compare(struct tree *t)
{
	const struct profile *p = t->profile;
	const size_t before = t->options->base_runs;
	const struct compared_side sides[2] = { { p, 0, before },
						{ p, before, p->trace_count - before } };

	t->columns = (struct change_columns){ .runs = &t->runs,
					      .width = t->options->width,
					      .colour = t->options->colour,
					      .one_side = true };
	return compared_runs_init(&t->runs, sides, t->options->normalize);
}

struct error *tree_render(const struct profile *p, const struct view_options *o, struct sink *s)
{
	double least = p->min_percent < 0 ? DEFAULT_MIN_PERCENT : p->min_percent;
	struct tree tree = { .profile = p, .options = o };
	struct error *error = o->base_runs ? compare(&tree) : NULL;

	tree.least = (double)p->total * least / 100;
	if (!error && !(name_frames(&tree) && add_entries(&tree) && choose_calls(&tree) &&
			order_calls(&tree)))
		error = error_memory();
	if (!error)
		error = tree.changes ? write_changes(&tree, s) : write_tree(&tree, s);
	tree_release(&tree);
	return error;
}
