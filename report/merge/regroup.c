/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/regroup.h"

#include "common/array.h"
#include "common/buffer.h"

#include <stdlib.h>
#include <string.h>

void regrouped_release(struct regrouped *r)
{
	free(r->groups);
	free(r->group_of);
	free(r->entries);
	slices_parts_release(&r->parts);
	free(r->new_node);
	*r = (struct regrouped){ 0 };
}

/* -------- groups -------- */

/* PRF_NONE without memory. */
static uint32_t append_group(struct regrouped *r, const struct profile_group *group)
{
	if (!array_reserve(&r->groups, &r->group_capacity, r->group_count + 1))
		return PRF_NONE;
	r->groups[r->group_count] = *group;
	return (uint32_t)r->group_count++;
}

/* Traces that note the same are one. */
static void add_notes(const struct regroup *how, const struct trace *trace, struct buffer *key)
{
	for (size_t i = 0; i < PROFILE_NOTES; i++) {
		const char *note = how->dimensions & PROFILE_BY_NOTE << i
					   ? trace_metadata(trace, how->note_keys[i])
					   : NULL;

		buffer_append(key, note ? note : "", note ? strlen(note) + 1 : 1);
	}
}

static void group_key(unsigned int by, const struct profile_group *g, struct buffer *key)
{
	buffer_u32(key, by & PROFILE_BY_TRACE ? g->trace : 0);
	buffer_u32(key, by & PROFILE_BY_EVENT ? g->event : 0);
	buffer_u32(key, by & PROFILE_BY_CPU ? g->cpu : 0);
	buffer_u32(key, by & PROFILE_BY_PID ? g->pid : 0);
	buffer_u32(key, by & PROFILE_BY_TID ? g->tid : 0);
	buffer_u32(key, by & PROFILE_BY_PARALLELISM ? g->parallelism : 0);
	buffer_append(key, g->comm, by & PROFILE_BY_COMM ? strlen(g->comm) + 1 : 0);
	buffer_append(key, g->cgroup, by & PROFILE_BY_CGROUP ? strlen(g->cgroup) + 1 : 0);
}

struct error *regroup_groups(struct regrouped *r, const struct regroup *how,
			     const struct tally_group *groups, size_t n)
{
	struct buffer key = { 0 };
	struct map ids = { 0 };
	struct error *error = error_memory();

	r->group_of = malloc((n + 1) * sizeof(*r->group_of));
	if (!r->group_of)
		return error_memory();
	for (size_t i = 0; i < n; i++) {
		const struct trace *trace = &how->traces[groups[i].trace];
		const struct prf_task *task = groups[i].task;
		struct profile_group group = {
			.comm = task->comm,
			.pid = task->pid,
			.tid = task->tid,
			.cpu = groups[i].cpu,
			.parallelism = groups[i].parallelism,
			.event = groups[i].event,
			.trace = groups[i].trace,
			.object = PRF_NONE,
			.cgroup = task->cgroup,
			.command_line = task->command_line,
			.ns_per_sample = how->ns_per_sample[i],
		};
		uint64_t *id;
		bool added;

		buffer_clear(&key);
		add_notes(how, trace, &key);
		group_key(how->dimensions, &group, &key);
		id = buffer_ok(&key) ? map_put(&ids, key.data, key.size, &added) : NULL;
		if (!id)
			goto out;
		if (added)
			*id = append_group(r, &group);
		if (*id == PRF_NONE)
			goto out;
		if (r->groups[*id].ns_per_sample != group.ns_per_sample)
			r->groups[*id].ns_per_sample = 0;
		r->group_of[i] = (uint32_t)*id;
	}
	error = NULL;
out:
	map_release(&ids);
	buffer_release(&key);
	return error;
}

struct error *regroup_add(struct regrouped *r, const struct profile_entry *entry)
{
	if (!array_reserve(&r->entries, &r->entry_capacity, r->entry_count + 1))
		return error_memory();
	r->entries[r->entry_count] = *entry;
	r->entries[r->entry_count++].group = r->group_of[entry->group];
	return NULL;
}

/* Splits groups by the objects of the entries' leaves. */
static struct error *split_by_object(struct regrouped *r, const struct node_tree *tree,
				     const struct frame_table *frames)
{
	struct map ids = { 0 };
	struct error *error = NULL;

	for (size_t i = 0; i < r->entry_count; i++) {
		struct profile_entry *e = &r->entries[i];
		struct profile_group group = r->groups[e->group];
		uint32_t key[2] = { e->group, PRF_NONE };
		uint64_t *id;
		bool added;

		if (e->node != PRF_NONE)
			key[1] = frames->frames[tree->nodes[e->node].frame].object;
		id = map_put(&ids, key, sizeof(key), &added);
		if (id && added) {
			group.object = key[1];
			*id = append_group(r, &group);
		}
		if (!id || *id == PRF_NONE) {
			error = error_memory();
			break;
		}
		e->group = (uint32_t)*id;
	}
	map_release(&ids);
	return error;
}

#define COMPARE(a, b)                                                                              \
	do {                                                                                       \
		if ((a) != (b))                                                                    \
			return (a) < (b) ? -1 : 1;                                                 \
	} while (0)

struct ordered_group {
	struct profile_group group;
	uint32_t old;
};

static int compare_groups(const void *left, const void *right)
{
	const struct ordered_group *a = left, *b = right;
	int order;

	COMPARE(a->group.trace, b->group.trace);
	COMPARE(a->group.event, b->group.event);
	order = strcmp(a->group.cgroup, b->group.cgroup);
	if (!order)
		order = strcmp(a->group.comm, b->group.comm);
	if (order)
		return order;
	COMPARE(a->group.pid, b->group.pid);
	COMPARE(a->group.tid, b->group.tid);
	COMPARE(a->group.cpu, b->group.cpu);
	COMPARE(a->group.parallelism, b->group.parallelism);
	COMPARE(a->group.object, b->group.object);
	/* qsort() is not stable, and equal groups are to have the same order each time. */
	COMPARE(a->old, b->old);
	return 0;
}

/* Sorts the groups, drops those without entries, and renumbers them in the entries. */
static struct error *sort_groups(struct regrouped *r)
{
	struct ordered_group *ordered = malloc((r->group_count + 1) * sizeof(*ordered));
	uint32_t *number = malloc((r->group_count + 1) * sizeof(*number));
	struct error *error = error_memory();
	size_t kept = 0;

	if (!ordered || !number)
		goto out;
	memset(number, 0xff, (r->group_count + 1) * sizeof(*number));
	for (size_t i = 0; i < r->entry_count; i++)
		number[r->entries[i].group] = 0;
	for (size_t i = 0; i < r->group_count; i++)
		if (number[i] != PRF_NONE)
			ordered[kept++] = (struct ordered_group){ r->groups[i], (uint32_t)i };
	if (kept)
		qsort(ordered, kept, sizeof(*ordered), compare_groups);
	for (size_t i = 0; i < kept; i++) {
		number[ordered[i].old] = (uint32_t)i;
		r->groups[i] = ordered[i].group;
	}
	r->group_count = kept;
	for (size_t i = 0; i < r->entry_count; i++)
		r->entries[i].group = number[r->entries[i].group];
	error = NULL;
out:
	free(ordered);
	free(number);
	return error;
}

/* -------- entries -------- */

/* Entries at nodes through which less than the given share passes go down to one with more. */
static struct error *cut_small(struct regrouped *r, double min_percent,
			       const struct node_tree *tree)
{
	double *passing = calloc(tree->count + 1, sizeof(*passing));
	double total = 0;

	if (!passing)
		return error_memory();
	for (size_t i = 0; i < r->entry_count; i++) {
		total += (double)r->entries[i].value;
		if (r->entries[i].node != PRF_NONE)
			passing[r->entries[i].node] += (double)r->entries[i].value;
	}
	/* Parents have lower numbers than their children: from the end, each is complete in time.
	 */
	for (size_t i = tree->count; i-- > 0;)
		if (tree->nodes[i].parent != PRF_NONE)
			passing[tree->nodes[i].parent] += passing[i];
	for (size_t i = 0; i < r->entry_count; i++) {
		uint32_t *node = &r->entries[i].node;

		while (*node != PRF_NONE && passing[*node] < total * min_percent / 100)
			*node = tree->nodes[*node].parent;
	}
	free(passing);
	return NULL;
}

/* Keeps the nodes that lead to an entry, and their frames, in the order they have. */
static struct error *drop_unused(struct regrouped *r, struct node_tree *tree,
				 struct frame_table *frames)
{
	uint32_t *new_frame = calloc(frames->count + 1, sizeof(*new_frame));
	size_t kept = 0;

	r->new_node = calloc(tree->count + 1, sizeof(*r->new_node));
	if (!new_frame || !r->new_node) {
		free(new_frame);
		return error_memory();
	}
	r->old_nodes = tree->count;
	for (size_t i = 0; i < r->entry_count; i++)
		if (r->entries[i].node != PRF_NONE)
			r->new_node[r->entries[i].node] = 1;
	for (size_t i = tree->count; i-- > 0;) {
		if (!r->new_node[i])
			continue;
		new_frame[tree->nodes[i].frame] = 1;
		if (tree->nodes[i].parent != PRF_NONE)
			r->new_node[tree->nodes[i].parent] = 1;
	}
	for (size_t i = 0; i < frames->count; i++) {
		bool used = new_frame[i];

		new_frame[i] = (uint32_t)kept;
		if (used)
			frames->frames[kept++] = frames->frames[i];
	}
	frames->count = kept;
	kept = 0;
	for (size_t i = 0; i < tree->count; i++) {
		struct profile_node node = tree->nodes[i];

		if (!r->new_node[i]) {
			r->new_node[i] = PRF_NONE;
			continue;
		}
		r->new_node[i] = (uint32_t)kept;
		node.frame = new_frame[node.frame];
		if (node.parent != PRF_NONE)
			node.parent = r->new_node[node.parent];
		tree->nodes[kept++] = node;
	}
	tree->count = kept;
	for (size_t i = 0; i < r->entry_count; i++)
		r->entries[i].node = regrouped_node(r, r->entries[i].node);
	free(new_frame);
	return NULL;
}

uint32_t regrouped_node(const struct regrouped *r, uint32_t node)
{
	return node < r->old_nodes ? r->new_node[node] : PRF_NONE;
}

enum sort_field { SORT_NODE, SORT_GROUP, SORT_FIELDS };

static uint32_t field(const struct profile_entry *e, enum sort_field by)
{
	/* PRF_NONE + 1 is 0: entries without a node come first. */
	return by == SORT_NODE ? e->node + 1 : e->group;
}

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/* A stable sort by one digit of a field. */
static void sort_by_digit(const struct profile_entry *from, struct profile_entry *to, size_t n,
			  enum sort_field by, unsigned int shift)
{
	size_t at[DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[field(&from[i], by) >> shift & (DIGITS - 1)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		size_t count = at[i];

		at[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[field(&from[i], by) >> shift & (DIGITS - 1)]++] = from[i];
}

/* By group and, within it, by node: as each sort is stable, the field sorted last comes first. */
static struct error *sort_entries(struct regrouped *r)
{
	struct profile_entry *other = malloc((r->entry_count + 1) * sizeof(*other));

	if (!other)
		return error_memory();
	for (enum sort_field by = 0; by < SORT_FIELDS; by++) {
		uint32_t highest = 0;

		for (size_t i = 0; i < r->entry_count; i++)
			highest = field(&r->entries[i], by) > highest ? field(&r->entries[i], by)
								      : highest;
		for (unsigned int shift = 0; shift < 32 && highest >> shift; shift += DIGIT_BITS) {
			struct profile_entry *sorted = other;

			sort_by_digit(r->entries, sorted, r->entry_count, by, shift);
			other = r->entries;
			r->entries = sorted;
			r->entry_capacity = r->entry_count + 1;
		}
	}
	free(other);
	return NULL;
}

/* Joins equal entries; `places`, unless NULL, gets the new index of each entry's cells. */
static void join_entries(struct regrouped *r, struct slices_place *places)
{
	size_t n = 0;

	for (size_t i = 0; i < r->entry_count; i++) {
		const struct profile_entry e = r->entries[i];
		struct profile_entry *last = n ? &r->entries[n - 1] : NULL;

		if (last && last->group == e.group && last->node == e.node) {
			last->samples += e.samples;
			last->value += e.value;
		} else {
			r->entries[n] = e;
			r->entries[n++].slice = 0;
		}
		if (places)
			places[e.slice].entry = (uint32_t)n - 1;
	}
	r->entry_count = n;
}

/* Makes parts of the entries, by time. False without memory. */
static bool make_parts(struct regrouped *r, const struct regroup *how)
{
	const struct slices_cells cells = { how->places, how->worths, r->entries, r->entry_count };

	return slices_split(how->slices, &cells, how->dimensions & PROFILE_BY_TIME, &r->parts);
}

/* With PROFILE_BY_TIME each part is an entry. */
static struct error *split_entries(struct regrouped *r)
{
	const struct slices_parts *parts = &r->parts;
	struct profile_entry *split = malloc((parts->count + 1) * sizeof(*split));

	if (!split)
		return error_memory();
	for (size_t i = 0; i < parts->count; i++) {
		const struct profile_part *part = &parts->parts[i];
		const struct profile_entry *entry = &r->entries[part->entry];

		split[i] = (struct profile_entry){ entry->group, part->slice, entry->node,
						   parts->samples[i], part->value };
	}
	free(r->entries);
	r->entries = split;
	r->entry_count = parts->count;
	slices_parts_release(&r->parts);
	return NULL;
}

/* Entries that are not divided have one part each. */
static struct error *whole_parts(struct regrouped *r)
{
	struct slices_parts *parts = &r->parts;

	parts->parts = malloc((r->entry_count + 1) * sizeof(*parts->parts));
	if (!parts->parts)
		return error_memory();
	parts->count = r->entry_count;
	for (size_t i = 0; i < parts->count; i++)
		parts->parts[i] = (struct profile_part){ (uint32_t)i, r->entries[i].slice,
							 r->entries[i].value };
	return NULL;
}

/* A value divided, with what is left over carried to the next one. */
static uint64_t divided(uint64_t value, uint64_t by, uint64_t *carry)
{
	uint64_t rest = *carry + value % by;

	*carry = rest % by;
	return value / by + rest / by;
}

/* Values of entries remain the sums of those of their parts. */
static void divide(struct regrouped *r, uint64_t by)
{
	struct slices_parts *parts = &r->parts;
	uint64_t carry = by / 2; /* rounds the sum */

	for (size_t i = 0; i < r->entry_count; i++)
		r->entries[i].value = parts->parts ? 0 : divided(r->entries[i].value, by, &carry);
	for (size_t i = 0; i < parts->count; i++) {
		struct profile_part *part = &parts->parts[i];

		part->value = divided(part->value, by, &carry);
		r->entries[part->entry].value += part->value;
	}
}

/* Entries in their final form, with parts where they are wanted. */
static struct error *finish_entries(struct regrouped *r, const struct regroup *how)
{
	struct error *error = NULL;

	join_entries(r, how->slices ? how->places : NULL);
	if (how->slices && !make_parts(r, how))
		return error_memory();
	if (how->divide_by > 1)
		divide(r, how->divide_by);
	if (r->parts.parts && (how->dimensions & PROFILE_BY_TIME))
		error = split_entries(r);
	if (!error && !r->parts.parts && (how->dimensions & PROFILE_IN_PARTS))
		error = whole_parts(r);
	return error;
}

static void add_up(const struct regrouped *r, struct profile *profile)
{
	uint64_t samples = 0, total = 0;

	for (size_t i = 0; i < r->entry_count; i++) {
		samples += r->entries[i].samples;
		total += r->entries[i].value;
	}
	profile->samples += samples;
	profile->total += total;
}

struct error *regroup_finish(struct regrouped *r, const struct regroup *how,
			     struct profile *profile)
{
	struct node_tree *tree = how->tree;
	struct frame_table *frames = how->frames;
	struct error *error = NULL;

	if (how->dimensions & PROFILE_BY_OBJECT)
		error = split_by_object(r, tree, frames);
	if (!error && how->min_percent > 0)
		error = cut_small(r, how->min_percent, tree);
	if (!error)
		error = drop_unused(r, tree, frames);
	if (!error)
		error = sort_groups(r);
	if (!error)
		error = sort_entries(r);
	if (!error)
		error = finish_entries(r, how);
	if (error)
		return error;
	add_up(r, profile);
	profile->groups = r->groups;
	profile->group_count = r->group_count;
	profile->entries = r->entries;
	profile->entry_count = r->entry_count;
	profile->parts = r->parts.parts;
	profile->part_count = r->parts.count;
	profile->nodes = tree->nodes;
	profile->node_count = tree->count;
	profile->frames = frames->frames;
	profile->frame_count = frames->count;
	return NULL;
}
