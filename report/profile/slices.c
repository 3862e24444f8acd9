/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/slices.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

#define MAX_MOMENTS (4u << 20)
#define MAX_JOINED (3u << 20) /* joined moments above this number make the slices longer */

void slices_release(struct slices *s)
{
	free(s->cells);
	free(s->samples);
	free(s->weights);
	free(s->runs);
	*s = (struct slices){ 0 };
}

void slices_restart(struct slices *s)
{
	s->begin = s->end = 0;
}

/* -------- moments -------- */

static uint32_t samples_of(const struct slices *s, size_t i)
{
	return s->samples ? s->samples[i] : 1;
}

static uint64_t weight_of(const struct slices *s, size_t i)
{
	return s->weights ? s->weights[i] : samples_of(s, i);
}

/* Room for one more moment. */
static bool reserve(struct slices *s)
{
	size_t wanted = s->count + 1;

	if (s->count >= PRF_NONE || !array_reserve(&s->cells, &s->capacity, wanted) ||
	    (s->samples && !array_reserve(&s->samples, &s->sample_capacity, wanted)) ||
	    (s->weights && !array_reserve(&s->weights, &s->weight_capacity, wanted)))
		return false;
	s->room = s->capacity < s->limit ? s->capacity : s->limit;
	if (s->samples || s->weights)
		s->room = 0;
	return true;
}

/* From now on each moment has its number of samples. */
static bool keep_samples(struct slices *s)
{
	if (s->samples)
		return true;
	if (!array_reserve(&s->samples, &s->sample_capacity, s->count + 1))
		return false;
	for (size_t i = 0; i < s->count; i++)
		s->samples[i] = 1;
	s->room = 0;
	return true;
}

/* A sample does not weigh 1: from now on each moment has its weight. */
static bool keep_weights(struct slices *s)
{
	if (s->weights)
		return true;
	if (!array_reserve(&s->weights, &s->weight_capacity, s->count + 1))
		return false;
	for (size_t i = 0; i < s->count; i++)
		s->weights[i] = samples_of(s, i);
	s->room = 0;
	return true;
}

/* Of each cell its last moment, PRF_NONE as yet. */
static uint32_t *no_moments(const struct slices *s)
{
	uint32_t max = 0;
	uint32_t *last;

	for (size_t i = 0; i < s->count; i++)
		max = s->cells[i] > max ? s->cells[i] : max;
	last = malloc((max + (size_t)1) * sizeof(*last));
	if (last)
		memset(last, 0xff, (max + (size_t)1) * sizeof(*last));
	return last;
}

bool slices_join(struct slices *s)
{
	uint32_t *last_of = no_moments(s);
	size_t n = 0;

	if (!last_of || !keep_samples(s)) {
		free(last_of);
		return false;
	}
	for (size_t r = 0, i = 0; r < s->run_count; r++) {
		size_t end = r + 1 < s->run_count ? s->runs[r + 1].first : s->count;
		uint32_t first = (uint32_t)n;

		for (; i < end; i++) {
			uint32_t cell = s->cells[i], samples = s->samples[i], at = last_of[cell];
			uint64_t weight = weight_of(s, i);
			bool joins = at != PRF_NONE && at >= first &&
				     samples <= UINT32_MAX - s->samples[at];

			if (!joins)
				last_of[cell] = at = (uint32_t)n++;
			s->cells[at] = cell;
			s->samples[at] = joins ? s->samples[at] + samples : samples;
			if (s->weights)
				s->weights[at] = joins ? s->weights[at] + weight : weight;
		}
		s->runs[r].first = first;
	}
	s->count = n;
	free(last_of);
	return true;
}

void slices_renumber(struct slices *s, uint32_t first, const uint32_t *numbers)
{
	/* Those of older cells come before them. */
	for (size_t i = s->count; i-- > 0 && s->cells[i] >= first;)
		s->cells[i] = numbers[s->cells[i] - first];
}

/* -------- counting -------- */

/* Doubles the slices' length. */
static void coarsen(struct slices *s)
{
	size_t n = 0;

	s->length_ns *= 2;
	for (size_t i = 0; i < s->run_count; i++) {
		struct slice_run run = { s->runs[i].slice / 2, s->runs[i].first };

		if (!n || s->runs[n - 1].slice != run.slice)
			s->runs[n++] = run;
	}
	s->run_count = n;
	s->begin = s->end = 0;
}

/*
 * Called when the limit of moments is reached: joins them, and lengthens the slices until few
 * enough remain.
 */
static bool make_fewer(struct slices *s)
{
	if (s->count && !slices_join(s))
		return false;
	while (s->count > MAX_JOINED && s->run_count > 1 && s->length_ns <= UINT64_MAX / 4) {
		coarsen(s);
		if (!slices_join(s))
			return false;
	}
	/*
	 * A single slice cannot be reduced below one moment for each cell, so the limit must rise.
	 */
	s->limit = s->count > MAX_JOINED ? 2 * s->count : MAX_MOMENTS;
	return true;
}

/* Makes the slice of this time the current one. */
static bool turn(struct slices *s, uint64_t since)
{
	uint32_t slice;

	while (since / s->length_ns >= s->max && s->length_ns <= UINT64_MAX / 4)
		coarsen(s);
	slice = (uint32_t)(since / s->length_ns);
	s->begin = slice * s->length_ns;
	s->end = s->begin + s->length_ns;
	if (s->run_count && s->runs[s->run_count - 1].slice == slice)
		return true;
	if (!array_reserve(&s->runs, &s->run_capacity, s->run_count + 1))
		return false;
	s->runs[s->run_count++] = (struct slice_run){ slice, (uint32_t)s->count };
	return true;
}

bool slices_append(struct slices *s, uint32_t cell, uint64_t since, uint64_t weight)
{
	if (s->count >= s->limit && !make_fewer(s))
		return false;
	if ((since < s->begin || since >= s->end) && !turn(s, since))
		return false;
	if ((weight != 1 && !keep_weights(s)) || !reserve(s))
		return false;
	s->cells[s->count] = cell;
	if (s->samples)
		s->samples[s->count] = 1;
	if (s->weights)
		s->weights[s->count] = weight;
	s->count++;
	return true;
}

/* -------- splitting -------- */

struct span {
	uint32_t slice, first, end;
};

/* The last part of an entry. */
struct last_part {
	uint32_t slice; /* PRF_NONE: it has none yet */
	uint32_t part;	/* in the result, once they are made */
};

struct split {
	const struct slices *slices;
	const struct slices_cells *cells;
	struct slices_parts *out;
	size_t groups;
	size_t *to;		/* of each group, where its next part goes in `out` */
	struct last_part *last; /* of each entry */
};

void slices_parts_release(struct slices_parts *parts)
{
	free(parts->parts);
	free(parts->samples);
	*parts = (struct slices_parts){ 0 };
}

static int compare_spans(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	if (a->slice != b->slice)
		return a->slice < b->slice ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* The runs sorted by slice; mostly they are in that order already. */
static struct span *sorted_spans(const struct slices *s)
{
	struct span *spans = malloc((s->run_count + 1) * sizeof(*spans));
	bool sorted = true;

	for (size_t i = 0; spans && i < s->run_count; i++) {
		bool more = i + 1 < s->run_count;

		spans[i] = (struct span){ s->runs[i].slice, s->runs[i].first,
					  more ? s->runs[i + 1].first : (uint32_t)s->count };
		sorted &= !i || spans[i - 1].slice <= spans[i].slice;
	}
	if (spans && !sorted)
		qsort(spans, s->run_count, sizeof(*spans), compare_spans);
	return spans;
}

/* No entry has a part yet. */
static void forget_parts(struct split *p)
{
	memset(p->last, 0xff, p->cells->entry_count * sizeof(*p->last));
}

/* Counts the parts of a span's entries. */
static void count_span(struct split *p, const struct span *span)
{
	const struct slices_place *places = p->cells->places;

	for (size_t i = span->first; i < span->end; i++) {
		uint32_t entry = places[p->slices->cells[i]].entry;

		if (entry != PRF_NONE && p->last[entry].slice != span->slice) {
			p->last[entry].slice = span->slice;
			p->to[p->cells->entries[entry].group]++;
		}
	}
}

/* Gives each group as much room as it has parts; how many there are. */
static size_t make_room(struct split *p, const struct span *spans)
{
	size_t sum = 0;

	for (size_t i = 0; i < p->slices->run_count; i++)
		count_span(p, &spans[i]);
	for (size_t g = 0; g < p->groups; g++) {
		size_t count = p->to[g];

		p->to[g] = sum;
		sum += count;
	}
	return sum;
}

static void split_span(struct split *p, const struct span *span)
{
	const struct slices_place *places = p->cells->places;
	const struct slices_worth *worths = p->cells->worths;
	const struct slices *s = p->slices;
	const uint32_t *cells = s->cells, slice = span->slice;
	const bool plain = !s->samples && !s->weights;
	struct profile_part *const parts = p->out->parts;
	uint64_t *const sums = p->out->samples;

	for (size_t i = span->first; i < span->end; i++) {
		const struct slices_place place = places[cells[i]];
		const struct slices_worth *worth = &worths[place.worth];
		uint64_t samples = 1, value = worth->of_sample + worth->of_weight;
		struct last_part *last;

		if (place.entry == PRF_NONE)
			continue;
		last = &p->last[place.entry];
		if (last->slice != slice) {
			uint32_t group = p->cells->entries[place.entry].group;

			*last = (struct last_part){ slice, (uint32_t)p->to[group]++ };
			parts[last->part] = (struct profile_part){ place.entry, slice, 0 };
		}
		if (!plain) {
			samples = samples_of(s, i);
			value = samples * worth->of_sample + weight_of(s, i) * worth->of_weight;
		}
		if (sums)
			sums[last->part] += samples;
		parts[last->part].value += value;
	}
}

static bool reserve_parts(struct slices_parts *out, size_t n, bool samples)
{
	out->parts = malloc((n + 1) * sizeof(*out->parts));
	out->samples = samples ? calloc(n + 1, sizeof(*out->samples)) : NULL;
	out->count = n;
	return out->parts && (out->samples || !samples);
}

bool slices_split(const struct slices *s, const struct slices_cells *cells, bool samples,
		  struct slices_parts *parts)
{
	struct split p = { .slices = s, .cells = cells, .out = parts };
	struct span *spans = sorted_spans(s);
	bool ok;

	p.groups = cells->entry_count ? cells->entries[cells->entry_count - 1].group + (size_t)1
				      : 0;
	p.to = calloc(p.groups + 1, sizeof(*p.to));
	p.last = malloc((cells->entry_count + 1) * sizeof(*p.last));
	ok = spans && p.to && p.last;
	if (ok) {
		forget_parts(&p);
		ok = reserve_parts(parts, make_room(&p, spans), samples);
		forget_parts(&p);
	}
	for (size_t i = 0; ok && i < s->run_count; i++)
		split_span(&p, &spans[i]);
	free(spans);
	free(p.to);
	free(p.last);
	return ok;
}
