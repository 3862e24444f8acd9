/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate/hits.h"

#include "common/array.h"
#include "common/map.h"
#include "common/sorted.h"
#include "report/merge/label.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of what each node of the profile counts at; PRF_NONE: nowhere. */
struct counting {
	struct hits *hits;
	const struct profile *p;
	const bool *is_function;
	struct hit_count *at; /* of each node: what ends in it, and what passes through it */
	uint32_t *place_of, *address_of, *host_of;
	bool *is_now;	     /* whether a run now passes a node; NULL: no runs are compared */
	uint32_t start_line; /* of the function now; 0: not known */
	struct map files;    /* of runs now, by the last parts of their paths */
	struct map ids;
	size_t place_capacity, address_capacity, host_capacity;
};

void hits_release(struct hits *h)
{
	free(h->places);
	free(h->addresses);
	free(h->hosts);
	free(h->all_runs);
	free(h->place_runs);
	free(h->address_runs);
	*h = (struct hits){ 0 };
}

static void counting_release(struct counting *c)
{
	free(c->at);
	free(c->place_of);
	free(c->address_of);
	free(c->host_of);
	free(c->is_now);
	map_release(&c->files);
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

/* Where a line of the function is now, if a file can have that line. */
static uint32_t line_now(const struct counting *c, uint32_t node)
{
	const struct profile_frame *frame = frame_of(c, node);
	uint64_t now;

	if (!c->is_now || c->is_now[node] || !c->start_line || !frame->start_line ||
	    frame->line < frame->start_line)
		return frame->line;
	now = (uint64_t)(frame->line - frame->start_line) + c->start_line;
	return now <= INT32_MAX ? (uint32_t)now : frame->line;
}

/* The file of a line as runs now name it, if they do. */
static const char *file_now(const struct counting *c, const char *file)
{
	const char *name = label_base_name(file);
	const uint64_t *now = map_get(&c->files, name, strlen(name));

	return now ? (const char *)(uintptr_t)*now : file;
}

static struct key place_key(const struct counting *c, uint32_t parent, uint32_t node)
{
	const struct profile_frame *frame = frame_of(c, node);
	/* The function's own lines are those of its file, whatever copy they belong to. */
	struct key key = { .kind = KEY_PLACE, .number = parent };

	key.file = file_now(c, frame->file);
	key.line = line_now(c, node);
	if (parent == PRF_NONE)
		return key;
	key.name = frame->name;
	key.line = frame->line;
	if (c->is_now && frame->start_line && frame->line >= frame->start_line) {
		key.offset = 1; /* no line of a file, but of a function */
		key.line -= frame->start_line;
	}
	return key;
}

static uint32_t place(struct counting *c, uint32_t parent, uint32_t node)
{
	struct hits *h = c->hits;
	const struct profile_frame *frame = frame_of(c, node);
	struct key key = place_key(c, parent, node);
	struct hit_place one = { .parent = parent,
				 .frame = frame,
				 .file = key.file,
				 .line = parent == PRF_NONE ? line_now(c, node) : frame->line,
				 .is_now = c->is_now && c->is_now[node] };
	uint64_t *id = numbered(c, &key, h->place_count);

	if (!id || !array_reserve(&h->places, &c->place_capacity, h->place_count + 1))
		return PRF_NONE;
	if (*id == h->place_count)
		h->places[h->place_count++] = one;
	else if (one.is_now && !h->places[*id].is_now)
		h->places[*id] = one;
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
			(struct hit_address){ frame->object, (uint32_t)*id, frame->offset, { 0 } };
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

static bool make_room(struct counting *c)
{
	const size_t n = c->p->node_count + 1;

	c->at = malloc(n * sizeof(*c->at));
	c->place_of = malloc(n * sizeof(*c->place_of));
	c->address_of = malloc(n * sizeof(*c->address_of));
	c->host_of = malloc(n * sizeof(*c->host_of));
	return c->at && c->place_of && c->address_of && c->host_of;
}

/* Adds up what traces from the first up to, not including, the last have at each node. */
static void add_up(struct counting *c, size_t first, size_t last)
{
	const struct profile *p = c->p;

	memset(c->at, 0, p->node_count * sizeof(*c->at));
	for (size_t i = 0; i < p->entry_count; i++) {
		const struct profile_entry *e = &p->entries[i];
		uint32_t trace = p->groups[e->group].trace;

		if (e->node == PRF_NONE || trace < first || trace >= last)
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
}

static bool note_file(struct counting *c, const char *file)
{
	const char *name = label_base_name(file);
	uint64_t *now;
	bool added;

	if (!*name)
		return true;
	now = map_put(&c->files, name, strlen(name), &added);
	if (now && added)
		*now = (uintptr_t)file;
	return now;
}

/* What runs now say of the function. */
static bool find_now(struct counting *c, size_t base_runs)
{
	const struct profile *p = c->p;

	c->is_now = calloc(p->node_count + 1, sizeof(*c->is_now));
	if (!c->is_now)
		return false;
	add_up(c, base_runs, p->trace_count);
	for (size_t i = 0; i < p->node_count; i++) {
		const struct profile_frame *frame = frame_of(c, (uint32_t)i);

		c->is_now[i] = c->at[i].total_samples;
		if (c->is_now[i] && !note_file(c, frame->file))
			return false;
		if (c->is_now[i] && c->is_function[p->nodes[i].frame] && !c->start_line)
			c->start_line = frame->start_line;
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
		c->place_of[node] = place(c, parent, node);
		return c->place_of[node] != PRF_NONE;
	}
	c->place_of[node] = place(c, PRF_NONE, node);
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

/* `number_of`: where else in the stack the node's place, address or host would count. */
static void count_at(const struct counting *c, struct hit_count *to, uint32_t node,
		     const uint32_t *number_of)
{
	add_self(to, &c->at[node]);
	if (!again(c, number_of, node))
		add_total(to, &c->at[node]);
}

static void count_all(const struct counting *c, struct hit_count *to, uint32_t node)
{
	if (!c->is_function[c->p->nodes[node].frame])
		return;
	add_self(to, &c->at[node]);
	if (!again_function(c, node))
		add_total(to, &c->at[node]);
}

static void count_node(struct counting *c, uint32_t node)
{
	struct hits *h = c->hits;
	uint32_t place = c->place_of[node], address = c->address_of[node], host = c->host_of[node];

	count_all(c, &h->all, node);
	if (place != PRF_NONE)
		count_at(c, &h->places[place].count, node, c->place_of);
	if (address != PRF_NONE)
		count_at(c, &h->addresses[address].count, node, c->address_of);
	if (host != PRF_NONE)
		count_at(c, &h->hosts[host].count, node, c->host_of);
}

static void count_run(struct counting *c, size_t run)
{
	struct hits *h = c->hits;

	add_up(c, run, run + 1);
	for (uint32_t node = 0; node < c->p->node_count; node++) {
		uint32_t place = c->place_of[node], address = c->address_of[node];

		if (!c->at[node].total_samples)
			continue;
		count_all(c, &h->all_runs[run], node);
		if (place != PRF_NONE)
			count_at(c, &h->place_runs[place * h->run_count + run], node, c->place_of);
		if (address != PRF_NONE)
			count_at(c, &h->address_runs[address * h->run_count + run], node,
				 c->address_of);
	}
}

static bool count_runs(struct counting *c)
{
	struct hits *h = c->hits;
	const size_t n = h->run_count = c->p->trace_count;

	h->all_runs = calloc(n, sizeof(*h->all_runs));
	h->place_runs = calloc(h->place_count * n + 1, sizeof(*h->place_runs));
	h->address_runs = calloc(h->address_count * n + 1, sizeof(*h->address_runs));
	if (!h->all_runs || !h->place_runs || !h->address_runs)
		return false;
	for (size_t run = 0; run < n; run++)
		count_run(c, run);
	return true;
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

static bool count(struct counting *c, size_t base_runs)
{
	bool ok = make_room(c) && (!base_runs || find_now(c, base_runs));

	for (uint32_t node = 0; ok && node < c->p->node_count; node++)
		ok = locate(c, node);
	if (!ok)
		return false;
	add_up(c, 0, SIZE_MAX);
	for (uint32_t node = 0; node < c->p->node_count; node++)
		count_node(c, node);
	return !base_runs || count_runs(c);
}

struct error *hits_count(struct hits *h, const struct profile *p, const bool *is_function,
			 size_t base_runs)
{
	struct counting c = { .hits = h, .p = p, .is_function = is_function };
	bool ok;

	*h = (struct hits){ .profile = p };
	ok = count(&c, base_runs);
	counting_release(&c);
	if (!ok)
		return error_memory();
	if (h->address_count)
		qsort(h->addresses, h->address_count, sizeof(*h->addresses), by_offset);
	if (h->host_count)
		qsort(h->hosts, h->host_count, sizeof(*h->hosts), by_total);
	return NULL;
}
