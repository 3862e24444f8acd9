/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/slices.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

#define MAX_MOMENTS (4u << 20) /* more than that make the slices longer */

void slices_release(struct slices *s)
{
	free(s->moments);
	free(s->runs);
	free(s->last);
	*s = (struct slices){ 0 };
}

void slices_restart(struct slices *s)
{
	s->begin = s->end = 0;
}

/* -------- counting -------- */

/* Adds up the moments of a cell that lie in one run now. */
static void join_moments(struct slices *s)
{
	size_t n = 0;

	memset(s->last, 0xff, s->cells * sizeof(*s->last));
	for (size_t r = 0, i = 0; r < s->run_count; r++) {
		size_t end = r + 1 < s->run_count ? s->runs[r + 1].first : s->count;
		uint32_t first = (uint32_t)n;

		for (; i < end; i++) {
			struct moment moment = s->moments[i];
			uint32_t *last = &s->last[moment.cell];

			if (*last != PRF_NONE && *last >= first &&
			    moment.samples <= UINT32_MAX - s->moments[*last].samples) {
				s->moments[*last].samples += moment.samples;
				s->moments[*last].weight += moment.weight;
			} else {
				*last = (uint32_t)n;
				s->moments[n++] = moment;
			}
		}
		s->runs[r].first = first;
	}
	s->count = n;
}

/* Doubles the slices' length; joins moments only when there are too many, for it takes long. */
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
	if (s->count >= MAX_MOMENTS)
		join_moments(s);
}

/* Goes on in the slice of this time. */
static bool turn(struct slices *s, uint64_t since)
{
	uint32_t slice;

	while ((since / s->length_ns >= s->max || s->count >= MAX_MOMENTS) &&
	       s->length_ns <= UINT64_MAX / 4) {
		coarsen(s);
		if (since / s->length_ns < s->max && s->length_ns > UINT64_C(1) << 40)
			break;
	}
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

/* A first moment of a cell in the last run. */
static bool add_moment(struct slices *s, uint32_t cell)
{
	if (s->count >= PRF_NONE || !array_reserve(&s->moments, &s->capacity, s->count + 1))
		return false;
	if (cell >= s->cells) {
		if (!array_reserve(&s->last, &s->cell_capacity, cell + (size_t)1))
			return false;
		memset(s->last + s->cells, 0xff, (s->cell_capacity - s->cells) * sizeof(*s->last));
		s->cells = s->cell_capacity;
	}
	s->last[cell] = (uint32_t)s->count;
	s->moments[s->count++] = (struct moment){ .cell = cell };
	return true;
}

bool slices_count(struct slices *s, uint32_t cell, uint64_t since, uint64_t weight)
{
	struct moment *moment;
	uint32_t last;

	if ((since < s->begin || since >= s->end) && !turn(s, since))
		return false;
	last = cell < s->cells ? s->last[cell] : PRF_NONE;
	if ((last == PRF_NONE || last < s->runs[s->run_count - 1].first ||
	     s->moments[last].samples == UINT32_MAX) && !add_moment(s, cell))
		return false;
	moment = &s->moments[s->last[cell]];
	moment->samples++;
	moment->weight += weight;
	return true;
}

/* -------- splitting -------- */

struct span {
	uint32_t slice, first, end;
};

struct split {
	const struct slices *slices;
	const struct slices_cells *cells;
	const struct profile_entry *entries;
	struct profile_entry *out;
	size_t groups;
	size_t *from, *to; /* of each group, its part of `out` so far */
	uint32_t *last;	   /* of each entry, its last part in `out`, or PRF_NONE */
};

static int compare_spans(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	if (a->slice != b->slice)
		return a->slice < b->slice ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* The runs in the order of their slices, in which mostly they are. */
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

/* Gives each group as much room as it has moments. */
static void make_room(struct split *p)
{
	size_t sum = 0;

	for (size_t i = 0; i < p->slices->count; i++) {
		uint32_t entry = p->cells->places[p->slices->moments[i].cell].entry;

		if (entry != PRF_NONE)
			p->to[p->entries[entry].group]++;
	}
	for (size_t g = 0; g < p->groups; g++) {
		p->from[g] = sum;
		sum += p->to[g];
		p->to[g] = p->from[g];
	}
}

static void split_span(struct split *p, const struct span *span)
{
	const struct slices_cells *cells = p->cells;
	struct profile_entry *out = p->out;

	for (size_t i = span->first; i < span->end; i++) {
		const struct moment *moment = &p->slices->moments[i];
		const struct slices_place *place = &cells->places[moment->cell];
		const struct slices_worth *worth = &cells->worths[place->worth];
		struct profile_entry *part;
		uint32_t *last;

		if (place->entry == PRF_NONE)
			continue;
		last = &p->last[place->entry];
		if (*last == PRF_NONE || out[*last].slice != span->slice) {
			const struct profile_entry *entry = &p->entries[place->entry];

			*last = (uint32_t)p->to[entry->group]++;
			out[*last] = (struct profile_entry){ entry->group, span->slice, entry->node };
		}
		part = &out[*last];
		part->samples += moment->samples;
		part->value += moment->samples * worth->of_sample + moment->weight * worth->of_weight;
	}
}

/* Closes the gaps that joined moments have left; how many entries there are. */
static size_t close_gaps(struct split *p)
{
	size_t n = 0;

	for (size_t g = 0; g < p->groups; g++) {
		size_t count = p->to[g] - p->from[g];

		if (n != p->from[g])
			memmove(p->out + n, p->out + p->from[g], count * sizeof(*p->out));
		n += count;
	}
	return n;
}

struct profile_entry *slices_split(const struct slices *s, const struct profile_entry *entries,
				   size_t *n, const struct slices_cells *cells)
{
	struct split p = { .slices = s, .cells = cells, .entries = entries };
	struct span *spans = sorted_spans(s);

	p.groups = *n ? entries[*n - 1].group + (size_t)1 : 0;
	p.out = malloc((s->count + 1) * sizeof(*p.out));
	p.from = calloc(2 * p.groups + 1, sizeof(*p.from));
	p.last = malloc((*n + 1) * sizeof(*p.last));
	if (spans && p.out && p.from && p.last) {
		p.to = p.from + p.groups;
		memset(p.last, 0xff, (*n + 1) * sizeof(*p.last));
		make_room(&p);
		for (size_t i = 0; i < s->run_count; i++)
			split_span(&p, &spans[i]);
		*n = close_gaps(&p);
	} else {
		free(p.out);
		p.out = NULL;
	}
	free(spans);
	free(p.from);
	free(p.last);
	return p.out;
}
