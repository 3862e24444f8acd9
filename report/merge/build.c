/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/build.h"

#include "report/merge/describe.h"
#include "report/merge/label_frames.h"
#include "report/merge/object_numbers.h"
#include "report/merge/regroup.h"
#include "report/merge/stack_nodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A profile, and what its pointers point into. */
struct built {
	struct profile profile;
	struct build_options options;
	struct definitions definitions;
	struct used used;
	struct object_numbers objects;
	struct named_frames names;
	struct stack_nodes stacks;
	struct described described;
	struct slices_worth *worths; /* of each of the tally's groups */
	uint64_t *sample_ns;	     /* likewise, profile_group.ns_per_sample */
	struct slices_place *places; /* of each of its cells, while entries are made */
	struct regrouped regrouped;
	struct label_frames leading;
	struct profile_code *codes; /* of all traces */
	struct prf_source *sources;
};

static struct built *built_of(const struct profile *p)
{
	return (struct built *)((uintptr_t)p - offsetof(struct built, profile));
}

static void built_free(struct built *b)
{
	described_release(&b->described);
	free(b->worths);
	free(b->sample_ns);
	free(b->places);
	free(b->codes);
	free(b->sources);
	regrouped_release(&b->regrouped);
	label_frames_release(&b->leading);
	stack_nodes_release(&b->stacks);
	named_frames_release(&b->names);
	object_numbers_release(&b->objects);
	used_release(&b->used);
	free(b);
}

void profile_free(struct profile *p)
{
	if (p)
		built_free(built_of(p));
}

uint32_t profile_node_of(const struct profile *p, uint32_t stack, bool *kept)
{
	const struct built *b = built_of(p);
	struct shape_state state = stack_nodes_state(&b->stacks, stack);

	*kept = shape_keeps(b->options.shape, &state);
	return regrouped_node(&b->regrouped, state.node);
}

/* -------- entries -------- */

/* The CPU time that a sample stands for; 0: none. */
static uint64_t ns_per_sample(const struct built *b, const struct tally_group *group)
{
	return (uint64_t)llround(b->described.samples_per_sample[group->trace] *
				 (double)b->profile.events[group->event].interval_ns);
}

/* What samples of a group count for, before units: ns for times. */
static struct slices_worth worth(const struct built *b, const struct tally_group *group)
{
	const struct profile_event *e = &b->profile.events[group->event];
	uint32_t share = b->options.latency && group->parallelism ? group->parallelism : 1;

	switch (b->options.value) {
	case PROFILE_TIME:
		return (struct slices_worth){ ns_per_sample(b, group) / share,
					      !e->interval_ns && !strcmp(e->unit, "ns") };
	case PROFILE_WEIGHT: return (struct slices_worth){ 0, 1 };
	default: return (struct slices_worth){ 1, 0 };
	}
}

static struct error *add_cell(struct built *b, uint32_t number, const struct tally_cell *cell)
{
	struct shape_state state = stack_nodes_state(&b->stacks, cell->stack);
	const struct slices_worth *one = &b->worths[cell->group];
	uint32_t node = state.node;

	if (!shape_keeps(b->options.shape, &state))
		return NULL;
	if (cell->waker != PRF_NONE) {
		node = stack_nodes_add_waker(&b->stacks, node, tally_waker(b->options.tally, cell));
		if (node == PRF_NONE)
			return error_memory();
	}
	return regroup_add(&b->regrouped, &(struct profile_entry){
						  .group = cell->group,
						  .slice = number,
						  .node = node,
						  .samples = cell->samples,
						  .value = cell->samples * one->of_sample +
							   cell->weight * one->of_weight,
					  });
}

static struct error *add_cells(struct built *b)
{
	size_t n;
	const struct tally_cell *cells = tally_cells(b->options.tally, &n);
	struct error *error = NULL;

	if (tally_slices(b->options.tally)->run_count) {
		b->places = malloc((n + 1) * sizeof(*b->places));
		if (!b->places)
			return error_memory();
	}
	for (size_t i = 0; b->places && i < n; i++)
		b->places[i] = (struct slices_place){ PRF_NONE, cells[i].group };
	for (size_t i = 0; !error && i < n; i++)
		error = add_cell(b, (uint32_t)i, &cells[i]);
	/* There may be millions of them, and entries are as large. */
	if (b->options.forgets)
		tally_forget_cells(b->options.tally);
	return error;
}

static struct error *make_entries(struct built *b)
{
	size_t group_count;
	const struct tally_group *groups = tally_groups(b->options.tally, &group_count);
	struct regroup regroup = { .dimensions = b->options.dimensions,
				   .note_keys = b->profile.note_keys,
				   .min_percent = b->options.min_percent,
				   .divide_by = b->options.value == PROFILE_TIME ? 1000 : 1,
				   .traces = b->options.traces,
				   .tree = &b->stacks.tree,
				   .frames = &b->names.table };
	struct error *error;

	b->worths = calloc(group_count + 1, sizeof(*b->worths));
	b->sample_ns = calloc(group_count + 1, sizeof(*b->sample_ns));
	if (!b->worths || !b->sample_ns)
		return error_memory();
	for (size_t i = 0; i < group_count; i++) {
		b->worths[i] = worth(b, &groups[i]);
		b->sample_ns[i] = ns_per_sample(b, &groups[i]);
	}
	regroup.ns_per_sample = b->sample_ns;
	error = regroup_groups(&b->regrouped, &regroup, groups, group_count);
	if (!error)
		error = add_cells(b);
	if (error)
		return error;
	if (b->places)
		regroup.slices = tally_slices(b->options.tally);
	regroup.places = b->places;
	regroup.worths = b->worths;
	error = regroup_finish(&b->regrouped, &regroup, &b->profile);
	free(b->places);
	b->places = NULL;
	return error;
}

/* -------- all of it -------- */

static const char *unit_of(const struct built *b)
{
	size_t n;
	const struct tally_group *groups = tally_groups(b->options.tally, &n);

	switch (b->options.value) {
	case PROFILE_TIME: return "us";
	case PROFILE_WEIGHT: return n ? b->profile.events[groups[0].event].unit : "events";
	default: return "samples";
	}
}

static int by_place(const void *left, const void *right)
{
	const struct profile_code *a = left, *b = right;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return (a->recorded->offset > b->recorded->offset) -
	       (a->recorded->offset < b->recorded->offset);
}

/* The code and the sources that the traces hold. */
static struct error *make_code(struct built *b)
{
	const struct build_options *o = &b->options;
	size_t codes = 0, sources = 0;

	for (size_t i = 0; i < o->trace_count; i++) {
		codes += o->traces[i].code_count;
		sources += o->traces[i].source_count;
	}
	b->profile.codes = b->codes = calloc(codes + 1, sizeof(*b->codes));
	b->profile.sources = b->sources = calloc(sources + 1, sizeof(*b->sources));
	if (!b->codes || !b->sources)
		return error_memory();
	for (size_t i = 0; i < o->trace_count; i++) {
		const struct trace *t = &o->traces[i];

		for (size_t k = 0; k < t->code_count; k++)
			b->codes[b->profile.code_count++] = (struct profile_code){
				b->objects.of[t->codes[k].object], &t->codes[k]
			};
		for (size_t k = 0; k < t->source_count; k++)
			b->sources[b->profile.source_count++] = t->sources[k];
	}
	qsort(b->codes, codes, sizeof(*b->codes), by_place);
	return NULL;
}

/* Names what was counted and brings the stacks into shape. */
static struct error *make_stacks(struct built *b)
{
	const struct build_options *o = &b->options;
	struct error *error = NULL;

	if (o->joined)
		error = joined_finish(o->joined, &b->definitions);
	else
		b->definitions = definitions_of(&o->traces[0]);
	b->names.definitions = b->stacks.definitions = &b->definitions;
	b->names.used = b->stacks.used = &b->used;
	b->names.objects = &b->objects;
	b->names.symbolizer = o->symbolizer;
	b->names.detail = o->detail;
	b->names.keeper = o->again ? o->traces : NULL;
	b->stacks.names = &b->names;
	b->stacks.shape = o->shape;
	if (!error)
		error = used_init(&b->used, &b->definitions, o->tally, 0);
	if (!error)
		error = object_numbers_init(&b->objects, o->symbolizer, o->traces, o->trace_count);
	if (!error)
		error = named_frames_make(&b->names);
	if (error)
		return error;
	object_numbers_add_status(&b->objects, o->symbolizer);
	return stack_nodes_make(&b->stacks);
}

static struct error *build(struct built *b)
{
	const struct build_options *o = &b->options;
	struct error *error = make_stacks(b);

	b->profile.dimensions = o->dimensions;
	if (!error)
		error = describe_events(&b->described, &b->profile, o->tally);
	for (size_t i = 0; o->note_keys && i < PROFILE_NOTES; i++)
		b->profile.note_keys[i] = o->note_keys[i];
	if (!error)
		error = describe_traces(&b->described, &b->profile, o->traces, o->trace_count);
	if (!error)
		error = make_entries(b);
	if (!error)
		error = make_code(b);
	if (error)
		return error;
	b->profile.objects = b->objects.list;
	b->profile.object_count = b->objects.count;
	b->profile.detail = o->detail;
	b->profile.value = o->value;
	b->profile.latency = o->latency;
	b->profile.unit = unit_of(b);
	b->profile.slice_ns = tally_slices(o->tally)->length_ns;
	if (o->leading)
		error = label_frames_add(&b->leading, &b->profile, b->regrouped.entries,
					 o->leading);
	return error;
}

struct error *profile_build(struct profile **profile, const struct build_options *options)
{
	struct built *b = calloc(1, sizeof(*b));
	struct error *error;

	if (!b)
		return error_memory();
	b->options = *options;
	error = build(b);
	if (error)
		built_free(b);
	else
		*profile = &b->profile;
	return error;
}
