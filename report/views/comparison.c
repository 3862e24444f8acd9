/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/comparison.h"

#include "common/array.h"
#include "common/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A comparison on its way. */
struct work {
	struct comparison *result;
	const struct profile *sides[2];
	enum rows_key by;
	struct map ids; /* row_common_key(): number in result->list */
	struct buffer key;
	size_t capacity, self_capacity, total_capacity;
	size_t all; /* runs */
	double *exposure;
	bool by_samples;   /* counts are samples, not values */
	uint64_t *selfs;   /* [row][run] */
	uint64_t *totals;  /* [row][run] */
	uint64_t *samples; /* of each run, of everything */
};

void comparison_release(struct comparison *c)
{
	for (size_t r = 0; c->rows && r < c->runs[0] + c->runs[1]; r++)
		rows_release(&c->rows[r]);
	free(c->rows);
	free(c->list);
	*c = (struct comparison){ 0 };
}

/* -------- runs -------- */

/* What a sample of a run stands for, in ns; 0: not known, or not the same for all. */
static uint64_t sample_ns(const struct profile *p, size_t trace)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < p->group_count; i++) {
		uint64_t one = p->events[p->groups[i].event].ns_per_sample;

		if (p->groups[i].trace != trace)
			continue;
		if (!one || (ns && one != ns))
			return 0;
		ns = one;
	}
	return ns;
}

static bool has_waits(const struct profile *p)
{
	for (size_t i = 0; i < p->group_count; i++) {
		enum prf_event_kind kind = p->events[p->groups[i].event].kind;

		if (kind == PRF_EVENT_OFF_CPU || kind == PRF_EVENT_PREEMPTED)
			return true;
	}
	return false;
}

static bool has_samples(const struct profile *p, size_t trace)
{
	for (size_t i = 0; i < p->entry_count; i++)
		if (p->groups[p->entries[i].group].trace == trace)
			return true;
	return false;
}

/* Samples fall independently, and each is worth the same within its run. */
static bool counts_samples(const struct work *w)
{
	for (int side = 0; side < 2; side++) {
		const struct profile *p = w->sides[side];

		if (p->value == PROFILE_WEIGHT || p->latency || has_waits(p))
			return false;
		for (size_t r = 0; p->value == PROFILE_TIME && r < p->trace_count; r++)
			if (has_samples(p, r) && !sample_ns(p, r))
				return false;
	}
	return true;
}

/*
 * The count of a run that a value of 1 gives. An empty run has no rate of its own and is taken as
 * one of 1000 Hz.
 */
static double exposure_of(const struct work *w, const struct profile *p, size_t run)
{
	uint64_t ns = sample_ns(p, run);

	if (p->value != PROFILE_TIME)
		return 1;
	return w->by_samples ? 1e9 / (double)(ns ? ns : 1000000) : 1e6;
}

static void add_samples(struct work *w, const struct profile *p, uint64_t *samples)
{
	for (size_t i = 0; i < p->entry_count; i++)
		samples[p->groups[p->entries[i].group].trace] += w->by_samples
									 ? p->entries[i].samples
									 : p->entries[i].value;
}

/* Shares are values whose exposure is the run's own total. */
static void scale_exposures(struct work *w)
{
	double total = w->result->totals[CHANGE_NOW];

	for (size_t r = 0; total > 0 && r < w->all; r++)
		w->exposure[r] = (double)(w->samples[r] ? w->samples[r] : 1) / total;
	w->result->totals[CHANGE_BEFORE] = total;
	w->result->scaled = true;
}

static void describe_runs(struct work *w, bool scale)
{
	struct comparison *c = w->result;
	size_t all = 0;

	w->by_samples = counts_samples(w);
	c->noise_known = w->by_samples || w->all > 2;
	c->unit = w->sides[1]->value == PROFILE_TIME ? "s" : w->sides[1]->unit;
	for (int side = 0; side < 2; side++) {
		double sum = 0, exposure = 0;

		add_samples(w, w->sides[side], w->samples + all);
		for (size_t r = 0; r < c->runs[side]; r++, all++) {
			w->exposure[all] = exposure_of(w, w->sides[side], r);
			sum += (double)w->samples[all];
			exposure += w->exposure[all];
		}
		c->totals[side] = sum / exposure;
	}
	if (scale)
		scale_exposures(w);
}

/* -------- rows -------- */

/* The row of a name; PRF_NONE without memory. */
static uint32_t find_row(struct work *w, const struct row *row)
{
	struct comparison *c = w->result;
	uint64_t *id;
	bool added;

	row_common_key(&w->key, w->by, row->name, row->object);
	id = buffer_ok(&w->key) ? map_put(&w->ids, w->key.data, w->key.size, &added) : NULL;
	if (!id)
		return PRF_NONE;
	if (added) {
		size_t counts = (c->count + 1) * w->all;

		if (!array_reserve(&c->list, &w->capacity, c->count + 1) ||
		    !array_reserve(&w->selfs, &w->self_capacity, counts) ||
		    !array_reserve(&w->totals, &w->total_capacity, counts))
			return PRF_NONE;
		memset(w->selfs + c->count * w->all, 0, w->all * sizeof(*w->selfs));
		memset(w->totals + c->count * w->all, 0, w->all * sizeof(*w->totals));
		c->list[c->count] = (struct compared){ 0 };
		*id = c->count++;
	}
	return (uint32_t)*id;
}

static struct error *add_run(struct work *w, enum change_side side, size_t run, size_t number)
{
	const struct rows *rows = &w->result->rows[number];

	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->list[i];
		uint32_t id = find_row(w, row);
		struct compared *one = id == PRF_NONE ? NULL : &w->result->list[id];

		if (!one)
			return error_memory();
		one->name = row->name;
		one->object = row->object;
		*(side == CHANGE_NOW ? &one->now : &one->before) = true;
		w->selfs[id * w->all + number] += w->by_samples ? row->self_samples : row->self;
		w->totals[id * w->all + number] += w->by_samples ? row->total_samples : row->total;
	}
	return NULL;
}

static struct error *add_runs(struct work *w)
{
	struct comparison *c = w->result;
	size_t number = 0;
	struct error *error = NULL;

	for (int side = 0; side < 2; side++)
		for (size_t r = 0; !error && r < c->runs[side]; r++, number++) {
			error = rows_init_run(&c->rows[number], w->sides[side], w->by, (uint32_t)r);
			if (!error)
				error = add_run(w, (enum change_side)side, r, number);
		}
	return error;
}

/* Self and total are tested together, so that the chance of a false alarm is that of both. */
static struct error *estimate(struct work *w)
{
	struct comparison *c = w->result;
	struct change_runs runs = { { c->runs[0], c->runs[1] }, w->exposure, w->by_samples };
	size_t row = w->all * sizeof(*w->selfs);
	struct change *changes = calloc(2 * c->count + 1, sizeof(*changes));
	uint64_t *counts = malloc(2 * c->count * row + 1);
	struct error *error = changes && counts ? NULL : error_memory();

	if (!error && c->count) {
		memcpy(counts, w->selfs, c->count * row);
		memcpy(counts + c->count * w->all, w->totals, c->count * row);
		error = changes_estimate(changes, 2 * c->count, counts, &runs);
	}
	for (size_t i = 0; !error && i < c->count; i++) {
		c->list[i].self = changes[i];
		c->list[i].total = changes[c->count + i];
	}
	free(changes);
	free(counts);
	return error;
}

/* -------- order -------- */

static double sure_part(const struct change *c)
{
	return c->sure ? change_at_least(c) : 0;
}

static int compare(const void *left, const void *right)
{
	const struct compared *a = left, *b = right;
	const double keys[][2] = {
		{ a->self.sure, b->self.sure },
		{ sure_part(&a->self), sure_part(&b->self) },
		{ a->total.sure, b->total.sure },
		{ sure_part(&a->total), sure_part(&b->total) },
		{ fabs(a->self.now - a->self.before), fabs(b->self.now - b->self.before) },
		{ fabs(a->total.now - a->total.before), fabs(b->total.now - b->total.before) },
	};
	int order;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] > keys[i][1] ? -1 : 1;
	order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->object, b->object);
}

/* -------- all of it -------- */

struct error *comparison_init(struct comparison *c, const struct comparison_sides *sides)
{
	struct work w = { .result = c, .sides = { sides->base, sides->now }, .by = sides->key };
	struct error *error = error_memory();

	*c = (struct comparison){ .runs = { sides->base->trace_count, sides->now->trace_count } };
	w.all = c->runs[0] + c->runs[1];
	c->rows = calloc(w.all, sizeof(*c->rows));
	w.exposure = calloc(w.all, sizeof(*w.exposure));
	w.samples = calloc(w.all, sizeof(*w.samples));
	if (c->rows && w.exposure && w.samples) {
		describe_runs(&w, sides->scale);
		error = add_runs(&w);
	}
	if (!error)
		error = estimate(&w);
	if (!error && c->count)
		qsort(c->list, c->count, sizeof(*c->list), compare);
	map_release(&w.ids);
	buffer_release(&w.key);
	free(w.exposure);
	free(w.samples);
	free(w.selfs);
	free(w.totals);
	return error;
}
