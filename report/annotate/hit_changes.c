/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate/hit_changes.h"

#include <stdlib.h>

/* Rows that are compared, and what they have in each run: of self, and after all rows of total. */
struct work {
	const struct compared_runs *runs;
	size_t *rows, count;
	uint64_t *values;
	struct change *changes;
};

static bool has_hits(const struct compared_runs *runs, const struct hit_count *counts)
{
	for (size_t run = 0; run < runs->all; run++)
		if (counts[run].total_samples)
			return true;
	return false;
}

static void take_values(struct work *w, const struct hit_count *counts)
{
	const size_t all = w->runs->all;
	const bool by_samples = w->runs->by_samples;

	for (size_t i = 0; i < w->count; i++)
		for (size_t run = 0; run < all; run++) {
			const struct hit_count *one = &counts[w->rows[i] * all + run];

			w->values[i * all + run] = by_samples ? one->self_samples : one->self;
			w->values[(w->count + i) * all + run] = by_samples ? one->total_samples
									   : one->total;
		}
}

static bool prepare(struct work *w, const struct hit_count *counts, size_t n)
{
	w->rows = calloc(n + 1, sizeof(*w->rows));
	for (size_t i = 0; w->rows && i < n; i++)
		if (has_hits(w->runs, counts + i * w->runs->all))
			w->rows[w->count++] = i;
	w->values = calloc(2 * w->count * w->runs->all + 1, sizeof(*w->values));
	w->changes = calloc(2 * w->count + 1, sizeof(*w->changes));
	return w->rows && w->values && w->changes;
}

struct error *hit_changes(struct hit_change **changes, const struct compared_runs *runs,
			  const struct hit_count *counts, size_t n)
{
	struct work w = { .runs = runs };
	struct error *error = NULL;

	*changes = NULL;
	if (!runs)
		return NULL;
	*changes = calloc(n + 1, sizeof(**changes));
	if (!*changes || !prepare(&w, counts, n))
		error = error_memory();
	if (!error) {
		take_values(&w, counts);
		error = compared_runs_estimate(runs, w.changes, 2 * w.count, w.values);
	}
	for (size_t i = 0; !error && i < w.count; i++)
		(*changes)[w.rows[i]] = (struct hit_change){ w.changes[i], w.changes[w.count + i] };
	free(w.rows);
	free(w.values);
	free(w.changes);
	return error;
}
