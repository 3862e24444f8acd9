/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/page/html_cells.h"

#include "common/array.h"
#include "report/page/html_column.h"

#include <stdlib.h>
#include <string.h>

void html_cells_release(struct html_cells *c)
{
	free(c->stretches);
	*c = (struct html_cells){ 0 };
}

/* -------- stretches -------- */

static bool add_stretch(struct html_cells *c, const struct html_stretch *stretch)
{
	if (!array_reserve(&c->stretches, &c->stretch_capacity, c->stretch_count + 1))
		return false;
	c->stretches[c->stretch_count++] = *stretch;
	if (stretch->slice >= c->slices)
		c->slices = stretch->slice + 1;
	return true;
}

/* Parts of a group follow each other, and within it those of a slice. */
static bool find_stretches(struct html_cells *c)
{
	const struct profile *p = c->profile;
	const struct profile_part *parts = p->parts;

	for (size_t i = 0, end; i < p->part_count; i = end) {
		const uint32_t group = p->entries[parts[i].entry].group;

		for (end = i + 1; end < p->part_count && parts[end].slice == parts[i].slice &&
				  p->entries[parts[end].entry].group == group;
		     end++)
			;
		if (!add_stretch(c, &(struct html_stretch){ parts[i].slice, c->source_of[group], i,
							    end - i }))
			return false;
	}
	return true;
}

enum stretch_order { BY_SOURCE, BY_SLICE };

/* A stable sort; `at` has a 0 for each key. */
static void sort_stretches(const struct html_stretch *from, struct html_stretch *to, size_t n,
			   size_t *at, enum stretch_order by)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		at[by == BY_SOURCE ? from[i].source : from[i].slice]++;
	for (size_t i = 0; sum < n; i++) {
		size_t same = at[i];

		at[i] = sum;
		sum += same;
	}
	for (size_t i = 0; i < n; i++)
		to[at[by == BY_SOURCE ? from[i].source : from[i].slice]++] = from[i];
}

struct error *html_cells_find(struct html_cells *c)
{
	struct html_stretch *other = NULL;
	size_t *at = NULL;
	bool ok = find_stretches(c);

	if (ok && c->stretch_count) {
		at = calloc((size_t)c->source_count + c->slices, sizeof(*at));
		other = malloc(c->stretch_count * sizeof(*other));
		ok = at && other;
	}
	if (ok && c->stretch_count) {
		sort_stretches(c->stretches, other, c->stretch_count, at, BY_SOURCE);
		sort_stretches(other, c->stretches, c->stretch_count, at + c->source_count,
			       BY_SLICE);
	}
	c->slices += !c->slices;
	free(at);
	free(other);
	return ok ? NULL : error_memory();
}

/* -------- runs -------- */

struct run {
	size_t end, cells; /* `end`: of its stretches, where those of the next one begin */
};

static struct run run_from(const struct html_cells *c, size_t first)
{
	const struct html_stretch *stretches = c->stretches;
	struct run run = { first, 0 };

	for (; run.end < c->stretch_count && stretches[run.end].slice == stretches[first].slice &&
	       stretches[run.end].source == stretches[first].source;
	     run.end++)
		run.cells += stretches[run.end].count;
	return run;
}

/* The number of cells in the largest run. */
static size_t put_runs(const struct html_cells *c, struct buffer *out)
{
	size_t n = 0, largest = 0;
	uint32_t slice = 0;
	struct run run;
	uint8_t *at;

	for (size_t i = 0; i < c->stretch_count; i = run.end, n++) {
		run = run_from(c, i);
		largest = run.cells > largest ? run.cells : largest;
	}
	buffer_uleb(out, n);
	at = html_column_begin(out, 3 * n);
	if (!at)
		return 0;
	for (size_t i = 0; i < c->stretch_count; i = run_from(c, i).end) {
		at = html_column_put(at, c->stretches[i].slice - slice);
		slice = c->stretches[i].slice;
	}
	for (size_t i = 0; i < c->stretch_count; i = run_from(c, i).end)
		at = html_column_put(at, c->stretches[i].source);
	for (size_t i = 0; i < c->stretch_count; i = run.end) {
		run = run_from(c, i);
		at = html_column_put(at, run.cells);
	}
	html_column_end(out, at);
	return largest;
}

/* -------- cells -------- */

/* A cell's node above its part's number. There is room for them twice: for sorting. */
struct cell_keys {
	uint64_t *keys, *other;
};

#define FEW 24u

static void sort_few(uint64_t *keys, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t key = keys[i];
		size_t at = i;

		for (; at && keys[at - 1] > key; at--)
			keys[at] = keys[at - 1];
		keys[at] = key;
	}
}

/* Stable, by a byte of the node. */
static void sort_by_byte(const uint64_t *from, uint64_t *to, size_t n, unsigned int shift)
{
	uint32_t at[256] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[from[i] >> shift & 255]++;
	for (size_t i = 0; i < 256; i++) {
		uint32_t same = at[i];

		at[i] = sum;
		sum += same;
	}
	for (size_t i = 0; i < n; i++)
		to[at[from[i] >> shift & 255]++] = from[i];
}

/* Sorts keys whose parts are in order. `nodes`: all bits that are set in any node. */
static void sort_keys(struct cell_keys *k, size_t n, uint32_t nodes)
{
	if (n <= FEW) {
		sort_few(k->keys, n);
		return;
	}
	for (unsigned int shift = 0; shift < 32 && nodes >> shift; shift += 8) {
		uint64_t *sorted = k->other;

		sort_by_byte(k->keys, sorted, n, 32 + shift);
		k->other = k->keys;
		k->keys = sorted;
	}
}

/* The keys of a run, sorted. */
static void sort_run(const struct html_cells *c, size_t first, size_t end, struct cell_keys *k)
{
	const struct profile_part *parts = c->profile->parts;
	uint32_t nodes = 0;
	size_t n = 0;

	for (; first < end; first++) {
		const struct html_stretch *stretch = &c->stretches[first];

		for (size_t i = stretch->first; i < stretch->first + stretch->count; i++) {
			uint32_t node = c->node_rank[c->node_of[parts[i].entry]];

			k->keys[n++] = (uint64_t)node << 32 | i;
			nodes |= node;
		}
	}
	sort_keys(k, n, nodes);
}

/* `at`: of the column of nodes, `value_at`: of that of values. */
static void put_cells(const struct html_cells *c, struct cell_keys *k, uint8_t **at,
		      uint8_t **value_at)
{
	const struct profile_part *parts = c->profile->parts;
	uint8_t *node_end = *at, *value_end = *value_at;
	struct run run;

	for (size_t i = 0; i < c->stretch_count; i = run.end) {
		uint32_t before = 0;

		run = run_from(c, i);
		sort_run(c, i, run.end, k);
		for (size_t cell = 0; cell < run.cells; cell++) {
			uint32_t node = (uint32_t)(k->keys[cell] >> 32);

			node_end = html_column_put(node_end, node - before);
			value_end = html_column_put(value_end,
						    parts[(uint32_t)k->keys[cell]].value);
			before = node;
		}
	}
	*at = node_end;
	*value_at = value_end;
}

void html_cells_put(const struct html_cells *c, struct buffer *out)
{
	const size_t n = c->profile->part_count, largest = put_runs(c, out) + 1;
	struct cell_keys k = { malloc(largest * sizeof(*k.keys)),
			       malloc(largest * sizeof(*k.keys)) };
	struct buffer values = { 0 };
	uint8_t *at, *value_at;

	buffer_uleb(out, n);
	at = html_column_begin(out, n);
	value_at = html_column_begin(&values, n);
	if (k.keys && k.other && at && value_at) {
		put_cells(c, &k, &at, &value_at);
		html_column_end(out, at);
		html_column_end(&values, value_at);
		buffer_append(out, values.data, values.size);
	} else {
		out->failed = true;
	}
	buffer_release(&values);
	free(k.keys);
	free(k.other);
}
