/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/gate/change_points.h"

#include <stdlib.h>
#include <string.h>

#include "bench/statistics/changes.h"

static const struct change_options options = {
	.seed = 1, .least = 4, .permutations = 199, .smallest = 0.01
};

struct search {
	const struct history *history;
	const char *branch, *testbed;
	struct results seen; /* what was looked at */
	struct change_point *points;
	size_t count;
	/* Of one measure. */
	double *values;
	const struct history_entry **entries;
	size_t *places;
	size_t n;
};

static bool counts(const struct search *s, const struct history_entry *e)
{
	return (!s->branch || !strcmp(s->branch, e->branch)) &&
	       (!s->testbed || !strcmp(s->testbed, e->testbed));
}

static void collect(struct search *s, const struct result *of)
{
	s->n = 0;
	for (size_t i = 0; i < s->history->count; i++) {
		const struct history_entry *e = &s->history->all[i];
		const struct result *r =
			counts(s, e) ? results_find(&e->results, of->benchmark, of->measure) : NULL;

		if (!r)
			continue;
		s->values[s->n] = r->estimate.value;
		s->entries[s->n++] = e;
	}
}

static struct error *find_in(struct search *s, const struct result *of)
{
	size_t skipped, begin = 0;
	struct change_point *points;
	int found;

	collect(s, of);
	skipped = s->n > CHANGES_VALUES_MOST ? s->n - CHANGES_VALUES_MOST : 0;
	found = changes_find(s->values + skipped, s->n - skipped, &options, s->places);
	points = found < 0 ? NULL
			   : realloc(s->points, (s->count + (size_t)found + 1) * sizeof(*points));
	if (!points)
		return error_memory();
	s->points = points;
	for (int i = 0; i < found; i++) {
		size_t place = s->places[i];
		size_t end = i + 1 < found ? s->places[i + 1] : s->n - skipped;
		const double *values = s->values + skipped;

		points[s->count++] =
			(struct change_point){ of->benchmark, of->measure,
					       s->entries[skipped + place],
					       statistics_median(values + begin, place - begin),
					       statistics_median(values + place, end - place) };
		begin = place;
	}
	return NULL;
}

static struct error *find_all(struct search *s)
{
	for (size_t i = 0; i < s->history->count; i++) {
		const struct history_entry *e = &s->history->all[i];

		for (size_t j = 0; counts(s, e) && j < e->results.count; j++) {
			const struct result *r = &e->results.all[j];
			struct error *error;

			if (results_find(&s->seen, r->benchmark, r->measure))
				continue;
			if (results_value(&s->seen, r->benchmark, r->measure, 0))
				return error_memory();
			error = find_in(s, r);
			if (error)
				return error;
		}
	}
	return NULL;
}

struct error *change_points_find(const struct history *h, const char *branch, const char *testbed,
				 struct change_point **points, size_t *count)
{
	struct search s = { .history = h, .branch = branch, .testbed = testbed };
	struct error *error;

	s.values = calloc(h->count + 1, sizeof(*s.values));
	s.entries = calloc(h->count + 1, sizeof(*s.entries));
	s.places = calloc(h->count + 1, sizeof(*s.places));
	error = s.values && s.entries && s.places ? find_all(&s) : error_memory();
	free(s.values);
	free(s.entries);
	free(s.places);
	results_release(&s.seen);
	if (error)
		free(s.points);
	*points = error ? NULL : s.points;
	*count = error ? 0 : s.count;
	return error;
}
