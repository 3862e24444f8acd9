/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/joined.h"

#include "common/array.h"
#include "report/merge/used.h"

#include <stdlib.h>
#include <string.h>

void joined_release(struct joined *j)
{
	pairs_release(&j->frames);
	pairs_release(&j->stacks);
	map_release(&j->objects);
	recorded_names_release(&j->names);
	free(j->named_by);
	free(j->all_stacks);
	free(j->all_frames);
	*j = (struct joined){ 0 };
}

void joined_numbers_release(struct joined_numbers *n)
{
	free(n->frames);
	free(n->stacks);
	*n = (struct joined_numbers){ 0 };
}

/* -------- frames and stacks as pairs -------- */

/* The frame of a trace with the symbolizer's number for its object. */
static struct pair frame_pair(const struct prf_frame *frame, const uint32_t *objects)
{
	uint32_t object = frame->object == PRF_NONE ? PRF_NONE : objects[frame->object];

	return (struct pair){ frame->offset, (uint64_t)object << 32 | frame->flags };
}

/* The stack with the numbers here; where its parent or its frame has none, so has the stack. */
static struct pair stack_pair(const struct prf_stack *stack, const struct joined_numbers *n)
{
	return (struct pair){ stack->parent == PRF_NONE ? PRF_NONE : n->stacks[stack->parent],
			      stack->frame == PRF_NONE ? PRF_NONE : n->frames[stack->frame] };
}

static bool has_numbers(const struct prf_stack *stack, const struct pair *pair)
{
	return (stack->parent == PRF_NONE || pair->a != PRF_NONE) &&
	       (stack->frame == PRF_NONE || pair->b != PRF_NONE);
}

static bool reserve_numbers(struct joined_numbers *n, size_t frames, size_t stacks)
{
	return array_reserve(&n->frames, &n->frame_capacity, frames + 1) &&
	       array_reserve(&n->stacks, &n->stack_capacity, stacks + 1);
}

/* -------- adding a trace -------- */

/* Numbers what is used; the rest is PRF_NONE. */
static struct error *number_used(struct joined *j, const struct definitions *d,
				 const struct used *used, struct joined_numbers *n)
{
	if (!reserve_numbers(n, d->frame_count, d->stack_count))
		return error_memory();
	for (size_t i = 0; i < d->frame_count; i++) {
		struct pair pair;

		n->frames[i] = PRF_NONE;
		if (!used->frames[i])
			continue;
		pair = frame_pair(&d->frames[i], d->objects);
		n->frames[i] = pairs_put(&j->frames, pair.a, pair.b);
		if (n->frames[i] == PRF_NONE)
			return error_memory();
	}
	for (size_t i = 0; i < d->stack_count; i++) {
		struct pair pair;

		n->stacks[i] = PRF_NONE;
		if (!used->stacks[i])
			continue;
		pair = stack_pair(&d->stacks[i], n);
		n->stacks[i] = pairs_put(&j->stacks, pair.a, pair.b);
		if (n->stacks[i] == PRF_NONE)
			return error_memory();
	}
	return NULL;
}

/* What an earlier trace named has its names: those here are equal, or as good. */
static struct error *add_names(struct joined *j, const struct definitions *d,
			       const struct joined_numbers *n)
{
	size_t known = j->named_capacity;

	if (!array_reserve(&j->named_by, &j->named_capacity, j->frames.count + 1))
		return error_memory();
	memset(j->named_by + known, 0, (j->named_capacity - known) * sizeof(*j->named_by));
	for (size_t i = 0; i < d->names->count; i++) {
		const struct recorded_name *names = &d->names->list[i];
		uint32_t frame = names->frame < d->frame_count ? n->frames[names->frame] : PRF_NONE;
		struct error *error;

		if (frame == PRF_NONE ||
		    (j->named_by[frame] && j->named_by[frame] != j->trace_count))
			continue;
		j->named_by[frame] = j->trace_count;
		error = recorded_names_add(&j->names, frame, d->names->places + names->first,
					   names->count);
		if (error)
			return error;
	}
	return NULL;
}

struct error *joined_add(struct joined *j, struct trace *t, struct tally *tally)
{
	const struct definitions d = definitions_of(t);
	struct joined_numbers numbers = { 0 };
	struct used used = { 0 };
	struct error *error = used_init(&used, &d, tally, tally_joined(tally));

	j->trace_count++;
	if (!error)
		error = number_used(j, &d, &used, &numbers);
	if (!error)
		error = add_names(j, &d, &numbers);
	if (!error)
		error = tally_join(tally, numbers.stacks);
	if (!error)
		trace_forget(t);
	used_release(&used);
	joined_numbers_release(&numbers);
	return error;
}

/* -------- all of them -------- */

static bool make_arrays(struct joined *j)
{
	j->all_frames = malloc((j->frames.count + 1) * sizeof(*j->all_frames));
	j->all_stacks = malloc((j->stacks.count + 1) * sizeof(*j->all_stacks));
	return j->all_frames && j->all_stacks;
}

struct error *joined_finish(struct joined *j, struct definitions *d)
{
	if (!make_arrays(j))
		return error_memory();
	for (size_t i = 0; i < j->frames.count; i++) {
		const struct pair *pair = &j->frames.pairs[i];

		j->all_frames[i] = (struct prf_frame){ .object = (uint32_t)(pair->b >> 32),
						       .flags = (uint32_t)pair->b,
						       .offset = pair->a };
	}
	for (size_t i = 0; i < j->stacks.count; i++) {
		const struct pair *pair = &j->stacks.pairs[i];

		j->all_stacks[i] = (struct prf_stack){ .parent = (uint32_t)pair->a,
						       .frame = (uint32_t)pair->b };
	}
	*d = (struct definitions){ .stacks = j->all_stacks,
				   .frames = j->all_frames,
				   .stack_count = j->stacks.count,
				   .frame_count = j->frames.count,
				   .names = &j->names };
	return NULL;
}

/* -------- a trace that is read again -------- */

static uint32_t find_frame(const struct joined *j, const struct trace *t,
			   const struct prf_frame *frame)
{
	struct pair pair;

	/* The file may have grown since it was read. */
	if (frame->object != PRF_NONE && frame->object >= t->object_count)
		return PRF_NONE;
	pair = frame_pair(frame, t->objects);
	return pairs_find(&j->frames, pair.a, pair.b);
}

bool joined_follow(const struct joined *j, const struct trace *t, const struct prf_reader *reader,
		   struct joined_numbers *n)
{
	const struct prf_frame *frames = prf_reader_all_frames(reader);
	const struct prf_stack *stacks = prf_reader_all_stacks(reader);

	if (!reserve_numbers(n, prf_reader_frames(reader), prf_reader_stacks(reader)))
		return false;
	for (; n->frame_count < prf_reader_frames(reader); n->frame_count++)
		n->frames[n->frame_count] = find_frame(j, t, &frames[n->frame_count]);
	for (; n->stack_count < prf_reader_stacks(reader); n->stack_count++) {
		const struct prf_stack *stack = &stacks[n->stack_count];
		struct pair pair = stack_pair(stack, n);

		n->stacks[n->stack_count] = has_numbers(stack, &pair)
						    ? pairs_find(&j->stacks, pair.a, pair.b)
						    : PRF_NONE;
	}
	return true;
}
