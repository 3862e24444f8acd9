/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/folded_lines.h"

#include "common/array.h"
#include "common/map.h"
#include "report/merge/label.h"
#include "report/tables/frame_text.h"

#include <stdlib.h>
#include <string.h>

/* A distinct frame text; `offset` is where it begins in folded.bytes. */
struct folded_text {
	size_t offset;
	uint32_t length;
};

struct builder {
	const struct profile *profile;
	const struct view_options *options;
	struct folded_lines *out;
	struct map ids;
	size_t text_capacity;
	uint32_t *text_of; /* of each frame of the profile */
	uint32_t *node_of; /* of each node of the profile, in the tree of texts */
	struct buffer label;
};

void folded_lines_release(struct folded_lines *f)
{
	free(f->lines);
	node_tree_release(&f->tree);
	free(f->sizes);
	free(f->texts);
	buffer_release(&f->bytes);
	*f = (struct folded_lines){ 0 };
}

/* The number of the text in b->label; UINT32_MAX without memory. */
static uint32_t add_text(struct builder *b)
{
	struct folded_lines *f = b->out;
	uint32_t id = UINT32_MAX;
	bool added;

	if (buffer_ok(&b->label))
		id = map_number(&b->ids, b->label.data, b->label.size, (uint32_t)f->text_count,
				&added);
	if (id == UINT32_MAX || !added)
		return id;
	if (!array_reserve(&f->texts, &b->text_capacity, f->text_count + 1))
		return UINT32_MAX;
	f->texts[f->text_count] = (struct folded_text){ f->bytes.size, (uint32_t)b->label.size };
	buffer_append(&f->bytes, b->label.data, b->label.size);
	return (uint32_t)f->text_count++;
}

static bool name_frames(struct builder *b)
{
	const struct profile *p = b->profile;

	b->text_of = malloc((p->frame_count + 1) * sizeof(*b->text_of));
	for (size_t i = 0; b->text_of && i < p->frame_count; i++) {
		buffer_clear(&b->label);
		frame_text(&b->label, p, &p->frames[i], b->options);
		b->text_of[i] = add_text(b);
		if (b->text_of[i] == UINT32_MAX)
			return false;
	}
	return b->text_of;
}

/* Stacks that look the same end at the same node. Parents come before their children. */
static bool add_stacks(struct builder *b)
{
	const struct profile *p = b->profile;

	b->node_of = malloc((p->node_count + 1) * sizeof(*b->node_of));
	for (size_t i = 0; b->node_of && i < p->node_count; i++) {
		uint32_t parent = p->nodes[i].parent;

		b->node_of[i] = node_tree_add(&b->out->tree,
					      parent == PRF_NONE ? PRF_NONE : b->node_of[parent],
					      b->text_of[p->nodes[i].frame]);
		if (b->node_of[i] == PRF_NONE)
			return false;
	}
	return b->node_of;
}

/* The node where the leading frames end; false without memory. */
static bool add_leading(struct builder *b, const struct profile_entry *entry, uint32_t *node)
{
	*node = PRF_NONE;
	for (size_t i = 0; i < VIEW_LEADING_MAX && b->options->leading[i]; i++) {
		uint32_t id;

		buffer_clear(&b->label);
		label_group(&b->label, b->profile, entry, b->options->leading[i]);
		id = add_text(b);
		*node = id == UINT32_MAX ? PRF_NONE : node_tree_add(&b->out->tree, *node, id);
		if (*node == PRF_NONE)
			return false;
	}
	return true;
}

/*
 * The leading frames of an entry are those of the one before it, unless group or slice
 * changed: entries are sorted by both.
 */
static bool add_lines(struct builder *b)
{
	const struct profile *p = b->profile;
	const struct profile_entry *before = NULL;
	struct folded_lines *f = b->out;
	uint32_t leading = PRF_NONE;

	f->lines = malloc((p->entry_count + 1) * sizeof(*f->lines));
	if (!f->lines)
		return false;
	for (size_t i = 0; i < p->entry_count; i++) {
		const struct profile_entry *e = &p->entries[i];
		uint32_t stack = e->node == PRF_NONE ? PRF_NONE : b->node_of[e->node];

		if (!e->value)
			continue;
		if ((!before || before->group != e->group || before->slice != e->slice) &&
		    !add_leading(b, e, &leading))
			return false;
		before = e;
		if (leading != PRF_NONE || stack != PRF_NONE)
			f->lines[f->line_count++] = (struct folded_line){ leading, stack, 0,
									  e->value };
	}
	return true;
}

/* -------- sorting -------- */

/*
 * A text in a line, where it is either the last one or has a ';' after it. So it sorts at two
 * places: "a" comes before "a b", which comes before "a;".
 */
enum { LAST, FOLLOWED, PLACES };

static int compare_places(const void *left, const void *right, void *context)
{
	const uint32_t *x = left, *y = right;
	const struct folded_lines *f = context;
	const struct folded_text *a = &f->texts[*x / PLACES], *b = &f->texts[*y / PLACES];
	uint32_t shorter = a->length < b->length ? a->length : b->length;
	const uint8_t *i = f->bytes.data + a->offset, *k = f->bytes.data + b->offset;
	int order = memcmp(i, k, shorter), after_a, after_b;

	if (order)
		return order;
	after_a = a->length > shorter ? i[shorter] : *x % PLACES == LAST ? -1 : ';';
	after_b = b->length > shorter ? k[shorter] : *y % PLACES == LAST ? -1 : ';';
	return after_a - after_b;
}

/* All places of texts, sorted. */
static uint32_t *rank_places(struct folded_lines *f)
{
	uint32_t n = (uint32_t)f->text_count * PLACES;
	uint32_t *ranked = malloc((n + 1) * sizeof(*ranked));

	for (uint32_t i = 0; ranked && i < n; i++)
		ranked[i] = i;
	if (ranked && n)
		qsort_r(ranked, n, sizeof(*ranked), compare_places, f);
	return ranked;
}

/* Where the lines that end in a node, or go on after it, come among all lines. */
struct ordering {
	uint32_t *ranked;	 /* all places of texts, sorted */
	uint32_t *newest, *next; /* the nodes of each text: the newest one, and those before it */
	uint32_t *below;	 /* places at and below each node that is followed */
	uint32_t *used;		 /* places already taken, by parent; the first is that of roots */
	uint32_t *place;	 /* PLACES of each node */
};

static void ordering_release(struct ordering *o)
{
	free(o->ranked);
	free(o->newest);
	free(o->next);
	free(o->below);
	free(o->used);
	free(o->place);
}

static bool ordering_init(struct ordering *o, struct folded_lines *f)
{
	const size_t n = f->tree.count;

	o->ranked = rank_places(f);
	o->newest = malloc((f->text_count + 1) * sizeof(*o->newest));
	o->next = malloc((n + 1) * sizeof(*o->next));
	o->below = calloc(n + 1, sizeof(*o->below));
	o->used = calloc(n + 1, sizeof(*o->used));
	o->place = malloc((n + 1) * PLACES * sizeof(*o->place));
	if (!o->ranked || !o->newest || !o->next || !o->below || !o->used || !o->place)
		return false;
	memset(o->newest, 0xff, f->text_count * sizeof(*o->newest)); /* PRF_NONE */
	for (uint32_t i = 0; i < n; i++) {
		o->next[i] = o->newest[f->tree.nodes[i].frame];
		o->newest[f->tree.nodes[i].frame] = i;
	}
	for (size_t i = n; i-- > 0;) {
		uint32_t parent = f->tree.nodes[i].parent;

		o->below[i]++;
		if (parent != PRF_NONE)
			o->below[parent] += o->below[i] + 1;
	}
	return true;
}

/* In the order of texts, each node takes the next places of its parent's. */
static void take_places(struct ordering *o, const struct folded_lines *f)
{
	for (size_t i = 0; i < f->text_count * PLACES; i++) {
		uint32_t text = o->ranked[i] / PLACES, kind = o->ranked[i] % PLACES;

		for (uint32_t k = o->newest[text]; k != PRF_NONE; k = o->next[k]) {
			uint32_t *used = &o->used[f->tree.nodes[k].parent + 1];

			o->place[PLACES * (size_t)k + kind] = *used;
			*used += kind == LAST ? 1 : o->below[k];
		}
	}
	for (size_t i = 0; i < f->tree.count; i++) {
		uint32_t parent = f->tree.nodes[i].parent, base = 0;

		if (parent != PRF_NONE)
			base = o->place[PLACES * (size_t)parent + FOLLOWED] + 1;
		o->place[PLACES * i + LAST] += base;
		o->place[PLACES * i + FOLLOWED] += base;
	}
}

static int by_order(const void *left, const void *right)
{
	const struct folded_line *a = left, *b = right;

	return (a->order > b->order) - (a->order < b->order);
}

static void join_lines(struct folded_lines *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->line_count; i++) {
		if (n && f->lines[n - 1].order == f->lines[i].order)
			f->lines[n - 1].value += f->lines[i].value;
		else
			f->lines[n++] = f->lines[i];
	}
	f->line_count = n;
}

static bool sort_lines(struct folded_lines *f)
{
	struct ordering o = { 0 };
	bool ok = ordering_init(&o, f);

	if (ok)
		take_places(&o, f);
	for (size_t i = 0; ok && i < f->line_count; i++) {
		struct folded_line *line = &f->lines[i];
		uint32_t kind = line->stack == PRF_NONE ? LAST : FOLLOWED;

		if (line->leading != PRF_NONE)
			line->order = (uint64_t)o.place[PLACES * (size_t)line->leading + kind]
				      << 32;
		if (line->stack != PRF_NONE)
			line->order |= o.place[PLACES * (size_t)line->stack + LAST];
	}
	ordering_release(&o);
	if (ok && f->line_count) {
		qsort(f->lines, f->line_count, sizeof(*f->lines), by_order);
		join_lines(f);
	}
	return ok;
}

/* -------- text -------- */

static bool measure_stacks(struct folded_lines *f)
{
	f->sizes = malloc((f->tree.count + 1) * sizeof(*f->sizes));
	for (size_t i = 0; f->sizes && i < f->tree.count; i++) {
		const struct profile_node *node = &f->tree.nodes[i];

		f->sizes[i] = f->texts[node->frame].length;
		if (node->parent != PRF_NONE)
			f->sizes[i] += f->sizes[node->parent] + 1;
	}
	return f->sizes;
}

struct error *folded_lines_init(struct folded_lines *f, const struct profile *p,
				const struct view_options *o)
{
	struct builder b = { .profile = p, .options = o, .out = f };
	bool ok;

	*f = (struct folded_lines){ 0 };
	ok = name_frames(&b) && add_stacks(&b) && add_lines(&b) && buffer_ok(&f->bytes) &&
	     sort_lines(f) && measure_stacks(f);
	map_release(&b.ids);
	free(b.text_of);
	free(b.node_of);
	buffer_release(&b.label);
	return ok ? NULL : error_memory();
}

/* Puts the stack that ends at a node before `end`. */
static void put_stack(const struct folded_lines *f, uint32_t node, uint8_t *end)
{
	while (node != PRF_NONE) {
		const struct folded_text *text = &f->texts[f->tree.nodes[node].frame];

		end -= text->length;
		memcpy(end, f->bytes.data + text->offset, text->length);
		node = f->tree.nodes[node].parent;
		if (node != PRF_NONE)
			*--end = ';';
	}
}

void folded_lines_stack(const struct folded_lines *f, const struct folded_line *line,
			struct sink *s)
{
	size_t leading = line->leading == PRF_NONE ? 0 : f->sizes[line->leading];
	size_t stack = line->stack == PRF_NONE ? 0 : f->sizes[line->stack];
	bool both = line->leading != PRF_NONE && line->stack != PRF_NONE;
	uint8_t *room = sink_room(s, leading + both + stack);

	if (!room)
		return;
	put_stack(f, line->leading, room + leading);
	if (both)
		room[leading] = ';';
	put_stack(f, line->stack, room + leading + both + stack);
}
