/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate/hits.h"

#include "common/array.h"
#include "common/map.h"
#include "common/sorted.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of what each node of the profile counts at; PRF_NONE: nowhere. */
struct counting {
	struct hits *hits;
	const struct profile *p;
	const bool *is_function;
	struct hit_count *at; /* of each node: what ends in it, and what passes through it */
	uint32_t *place_of, *address_of, *host_of;
	struct map ids;
	size_t place_capacity, address_capacity, host_capacity;
};

void hits_release(struct hits *h)
{
	free(h->places);
	free(h->addresses);
	free(h->hosts);
	*h = (struct hits){ 0 };
}

static void counting_release(struct counting *c)
{
	free(c->at);
	free(c->place_of);
	free(c->address_of);
	free(c->host_of);
	map_release(&c->ids);
}

static const struct profile_frame *frame_of(const struct counting *c, uint32_t node)
{
	return &c->p->frames[c->p->nodes[node].frame];
}

static void add_self(struct hit_count *to, const struct hit_count *from)
{
	to->self_samples += from->self_samples;
	to->self += from->self;
}

static void add_total(struct hit_count *to, const struct hit_count *from)
{
	to->total_samples += from->total_samples;
	to->total += from->total;
}

/* -------- numbers -------- */

enum key_kind { KEY_PLACE, KEY_ADDRESS, KEY_HOST };

/* What makes two places, addresses or hosts the same one; text by its address in the profile. */
struct key {
	uint64_t kind, number;
	const char *name, *file;
	uint64_t line, offset;
};

/* The number under the key, `next` if it is new; NULL without memory. */
static uint64_t *numbered(struct counting *c, const struct key *key, size_t next)
{
	bool added;
	uint64_t *id = map_put(&c->ids, key, sizeof(*key), &added);

	if (id && added)
		*id = next;
	return id;
}

static uint32_t place(struct counting *c, uint32_t parent, const struct profile_frame *frame)
{
	struct hits *h = c->hits;
	/* The function's own lines are those of its file, whatever copy they belong to. */
	struct key key = { .kind = KEY_PLACE,
			   .number = parent,
			   .name = parent == PRF_NONE ? NULL : frame->name,
			   .file = frame->file,
			   .line = frame->line };
	uint64_t *id = numbered(c, &key, h->place_count);

	if (!id || !array_reserve(&h->places, &c->place_capacity, h->place_count + 1))
		return PRF_NONE;
	if (*id == h->place_count)
		h->places[h->place_count++] = (struct hit_place){ parent, frame, { 0 } };
	return (uint32_t)*id;
}

static uint32_t address(struct counting *c, const struct profile_frame *frame)
{
	struct hits *h = c->hits;
	struct key key = { .kind = KEY_ADDRESS, .number = frame->object, .offset = frame->offset };
	uint64_t *id = numbered(c, &key, h->address_count);

	if (!id || !array_reserve(&h->addresses, &c->address_capacity, h->address_count + 1))
		return PRF_NONE;
	if (*id == h->address_count)
		h->addresses[h->address_count++] =
			(struct hit_address){ frame->object, frame->offset, { 0 } };
	return (uint32_t)*id;
}

static uint32_t host(struct counting *c, const struct profile_frame *frame)
{
	struct hits *h = c->hits;
	struct key key = { .kind = KEY_HOST, .number = frame->object, .name = frame->name };
	uint64_t *id = numbered(c, &key, h->host_count);

	if (!id || !array_reserve(&h->hosts, &c->host_capacity, h->host_count + 1))
		return PRF_NONE;
	if (*id == h->host_count)
		h->hosts[h->host_count++] = (struct hit_host){ frame, { 0 } };
	return (uint32_t)*id;
}

/* -------- counting -------- */

static bool add_up(struct counting *c)
{
	const struct profile *p = c->p;

	c->at = calloc(p->node_count + 1, sizeof(*c->at));
	c->place_of = malloc((p->node_count + 1) * sizeof(*c->place_of));
	c->address_of = malloc((p->node_count + 1) * sizeof(*c->address_of));
	c->host_of = malloc((p->node_count + 1) * sizeof(*c->host_of));
	if (!c->at || !c->place_of || !c->address_of || !c->host_of)
		return false;
	for (size_t i = 0; i < p->entry_count; i++) {
		const struct profile_entry *e = &p->entries[i];

		if (e->node == PRF_NONE)
			continue;
		c->at[e->node].self_samples += e->samples;
		c->at[e->node].self += e->value;
	}
	for (size_t i = p->node_count; i-- > 0;) {
		uint32_t parent = p->nodes[i].parent;

		c->at[i].total_samples += c->at[i].self_samples;
		c->at[i].total += c->at[i].self;
		if (parent != PRF_NONE)
			add_total(&c->at[parent], &c->at[i]);
	}
	return true;
}

/*
 * What an inlined frame lies in; PRF_NONE if it is not inlined, or if its parent is another
 * function, as with --hide.
 */
static uint32_t around(const struct counting *c, uint32_t node)
{
	const struct profile_frame *frame = frame_of(c, node), *outer;
	uint32_t parent = c->p->nodes[node].parent;

	if (!frame->inlined || parent == PRF_NONE)
		return PRF_NONE;
	outer = frame_of(c, parent);
	return outer->object == frame->object && outer->offset == frame->offset ? parent : PRF_NONE;
}

/* The function that a frame's code lies in; PRF_NONE if the profile does not have it. */
static uint32_t outermost(const struct counting *c, uint32_t node)
{
	while (node != PRF_NONE && frame_of(c, node)->inlined)
		node = around(c, node);
	return node;
}

/* Where a node counts, after its parent was placed. False without memory. */
static bool locate(struct counting *c, uint32_t node)
{
	const struct profile_frame *frame = frame_of(c, node);
	uint32_t outer = around(c, node), parent = PRF_NONE;

	c->place_of[node] = c->address_of[node] = c->host_of[node] = PRF_NONE;
	if (outer != PRF_NONE) {
		parent = c->place_of[outer];
		c->address_of[node] = c->address_of[outer];
	}
	if (!c->is_function[c->p->nodes[node].frame]) {
		if (parent == PRF_NONE)
			return true;
		c->place_of[node] = place(c, parent, frame);
		return c->place_of[node] != PRF_NONE;
	}
	c->place_of[node] = place(c, PRF_NONE, frame);
	if (!frame->inlined && frame->object != PRF_NONE) {
		c->address_of[node] = address(c, frame);
		if (c->address_of[node] == PRF_NONE)
			return false;
	}
	outer = outermost(c, node);
	if (frame->inlined && outer != PRF_NONE && !c->is_function[c->p->nodes[outer].frame]) {
		c->host_of[node] = host(c, frame_of(c, outer));
		if (c->host_of[node] == PRF_NONE)
			return false;
	}
	return c->place_of[node] != PRF_NONE;
}

/* Whether a frame farther out has the same number: recursion counts once. */
static bool again(const struct counting *c, const uint32_t *number_of, uint32_t node)
{
	for (uint32_t up = c->p->nodes[node].parent; up != PRF_NONE; up = c->p->nodes[up].parent)
		if (number_of[up] == number_of[node])
			return true;
	return false;
}

static bool again_function(const struct counting *c, uint32_t node)
{
	for (uint32_t up = c->p->nodes[node].parent; up != PRF_NONE; up = c->p->nodes[up].parent)
		if (c->is_function[c->p->nodes[up].frame])
			return true;
	return false;
}

static void count_node(struct counting *c, uint32_t node)
{
	struct hits *h = c->hits;
	const struct hit_count *at = &c->at[node];
	struct hit_count *to;

	if (c->is_function[c->p->nodes[node].frame]) {
		add_self(&h->all, at);
		if (!again_function(c, node))
			add_total(&h->all, at);
	}
	if (c->place_of[node] != PRF_NONE) {
		to = &h->places[c->place_of[node]].count;
		add_self(to, at);
		if (!again(c, c->place_of, node))
			add_total(to, at);
	}
	if (c->address_of[node] != PRF_NONE) {
		to = &h->addresses[c->address_of[node]].count;
		add_self(to, at);
		if (!again(c, c->address_of, node))
			add_total(to, at);
	}
	if (c->host_of[node] != PRF_NONE) {
		to = &h->hosts[c->host_of[node]].count;
		add_self(to, at);
		if (!again(c, c->host_of, node))
			add_total(to, at);
	}
}

static int by_offset(const void *left, const void *right)
{
	const struct hit_address *a = left, *b = right;

	return SORTED_BY_TWO(a, b, object, offset);
}

static int by_total(const void *left, const void *right)
{
	const struct hit_host *a = left, *b = right;

	if (a->count.total != b->count.total)
		return a->count.total < b->count.total ? 1 : -1;
	return strcmp(a->frame->name, b->frame->name);
}

struct error *hits_count(struct hits *h, const struct profile *p, const bool *is_function)
{
	struct counting c = { .hits = h, .p = p, .is_function = is_function };
	bool ok;

	*h = (struct hits){ .profile = p };
	ok = add_up(&c);
	for (uint32_t node = 0; ok && node < p->node_count; node++)
		ok = locate(&c, node);
	for (uint32_t node = 0; ok && node < p->node_count; node++)
		count_node(&c, node);
	counting_release(&c);
	if (!ok)
		return error_memory();
	if (h->address_count)
		qsort(h->addresses, h->address_count, sizeof(*h->addresses), by_offset);
	if (h->host_count)
		qsort(h->hosts, h->host_count, sizeof(*h->hosts), by_total);
	return NULL;
}
