/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/tables/threads.h"

#include <stdlib.h>
#include <string.h>

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

bool threads_are_joined(const struct profile *p)
{
	const unsigned int one_by_one = PROFILE_BY_TRACE | PROFILE_BY_PID | PROFILE_BY_TID;

	return (p->dimensions & one_by_one) != one_by_one;
}

static int compare_threads(const struct profile *p, const struct profile_group *a,
			   const struct profile_group *b)
{
	int order = 0;

	if (!threads_are_joined(p)) {
		order = compare_numbers(a->trace, b->trace);
		if (!order)
			order = compare_numbers(a->pid, b->pid);
		if (!order)
			order = compare_numbers(a->tid != a->pid, b->tid != b->pid);
		if (!order)
			order = compare_numbers(a->tid, b->tid);
	}
	return order ? order : strcmp(a->comm, b->comm);
}

static int compare_groups(const void *left, const void *right, void *context)
{
	const struct profile *p = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = compare_threads(p, &p->groups[a], &p->groups[b]);

	return order ? order : compare_numbers(a, b);
}

static uint32_t group_of(const struct profile *p, const struct profile_part *part)
{
	return p->entries[part->entry].group;
}

static int compare_times(const void *left, const void *right, void *context)
{
	const struct profile *p = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = compare_numbers(p->parts[a].slice, p->parts[b].slice);

	return order ? order : compare_numbers(a, b);
}

uint64_t threads_time(const struct profile *p, const struct profile_part *part)
{
	return part->slice * p->slice_ns;
}

/* Those of one group are in order as they are. */
static void sort_by_time(struct threads *t, const struct profile *p, const struct thread *thread)
{
	uint32_t *parts = t->parts + thread->first_part;
	size_t n = thread->part_count;

	if (n && group_of(p, &p->parts[parts[0]]) != group_of(p, &p->parts[parts[n - 1]]))
		qsort_r(parts, n, sizeof(*parts), compare_times, (void *)p);
}

struct error *threads_find_parts(struct threads *t, const struct profile *p)
{
	size_t placed = 0;

	t->parts = malloc((p->part_count + 1) * sizeof(*t->parts));
	if (!t->parts)
		return error_memory();
	for (size_t i = 0; i < p->part_count; i++)
		t->list[t->thread_of[group_of(p, &p->parts[i])]].part_count++;
	for (size_t i = 0; i < t->count; i++) {
		t->list[i].first_part = placed;
		placed += t->list[i].part_count;
		t->list[i].part_count = 0;
	}
	for (size_t i = 0; i < p->part_count; i++) {
		struct thread *thread = &t->list[t->thread_of[group_of(p, &p->parts[i])]];

		t->parts[thread->first_part + thread->part_count++] = (uint32_t)i;
	}
	for (size_t i = 0; i < t->count; i++)
		sort_by_time(t, p, &t->list[i]);
	return NULL;
}

/* `order`: the groups, sorted; `first[g]`: the first entry of group g. */
static void threads_fill(struct threads *t, const struct profile *p, const uint32_t *order,
			 const size_t *first)
{
	size_t placed = 0;

	for (size_t i = 0; i < p->group_count; i++) {
		uint32_t g = order[i];
		struct thread *thread = t->count ? &t->list[t->count - 1] : NULL;
		uint64_t samples = 0, value = 0;

		t->thread_of[g] = PRF_NONE;
		if (first[g] == first[g + 1])
			continue;
		if (!thread || compare_threads(p, thread->group, &p->groups[g])) {
			thread = &t->list[t->count++];
			*thread = (struct thread){ .group = &p->groups[g], .first = placed };
		}
		for (size_t e = first[g]; e < first[g + 1]; e++) {
			samples += p->entries[e].samples;
			value += p->entries[e].value;
			t->entries[placed++] = (uint32_t)e;
		}
		thread->samples += samples;
		thread->value += value;
		thread->count = placed - thread->first;
		t->thread_of[g] = (uint32_t)t->count - 1;
	}
}

static uint64_t longest_trace(const struct profile *p)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < p->trace_count; i++)
		if (p->traces[i].duration_ns > longest)
			longest = p->traces[i].duration_ns;
	return longest;
}

struct error *threads_init(struct threads *t, const struct profile *p)
{
	uint32_t *order = calloc(p->group_count + 1, sizeof(*order));
	size_t *first = calloc(p->group_count + 2, sizeof(*first));
	struct error *error = error_memory();

	*t = (struct threads){ 0 };
	t->list = calloc(p->group_count + 1, sizeof(*t->list));
	t->entries = calloc(p->entry_count + 1, sizeof(*t->entries));
	t->thread_of = calloc(p->group_count + 1, sizeof(*t->thread_of));
	if (!order || !first || !t->list || !t->entries || !t->thread_of)
		goto out;
	for (size_t i = 0; i < p->entry_count; i++)
		first[p->entries[i].group + 1]++;
	for (size_t g = 0; g < p->group_count; g++) {
		first[g + 1] += first[g];
		order[g] = (uint32_t)g;
	}
	qsort_r(order, p->group_count, sizeof(*order), compare_groups, (void *)p);
	threads_fill(t, p, order, first);
	t->duration_ns = longest_trace(p);
	error = NULL;
out:
	free(order);
	free(first);
	if (error)
		threads_release(t);
	return error;
}

void threads_release(struct threads *t)
{
	free(t->list);
	free(t->entries);
	free(t->parts);
	free(t->thread_of);
	*t = (struct threads){ 0 };
}
