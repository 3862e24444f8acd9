/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/difference/comparison.h"

#include "common/array.h"
#include "common/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A comparison on its way. */
struct work {
	struct comparison *result;
	const struct compared_runs *runs;
	enum rows_key by;
	struct map ids; /* row_common_key(): number in result->list */
	struct buffer key;
	size_t capacity, self_capacity, total_capacity;
	uint64_t *selfs;  /* [row][run] */
	uint64_t *totals; /* [row][run] */
	uint64_t *joint;  /* [row][run]: `selfs` with those of the parts; NULL: no row has any */
};

void comparison_release(struct comparison *c)
{
	for (size_t r = 0; c->rows && r < c->runs.all; r++)
		rows_release(&c->rows[r]);
	compared_runs_release(&c->runs);
	free(c->rows);
	free(c->list);
	*c = (struct comparison){ 0 };
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
		size_t counts = (c->count + 1) * w->runs->all;

		if (!array_reserve(&c->list, &w->capacity, c->count + 1) ||
		    !array_reserve(&w->selfs, &w->self_capacity, counts) ||
		    !array_reserve(&w->totals, &w->total_capacity, counts))
			return PRF_NONE;
		memset(w->selfs + c->count * w->runs->all, 0, w->runs->all * sizeof(*w->selfs));
		memset(w->totals + c->count * w->runs->all, 0, w->runs->all * sizeof(*w->totals));
		c->list[c->count] = (struct compared){ .other = "" };
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
		w->selfs[id * w->runs->all + number] += w->runs->by_samples ? row->self_samples
									    : row->self;
		w->totals[id * w->runs->all + number] += w->runs->by_samples ? row->total_samples
									     : row->total;
	}
	return NULL;
}

static struct error *add_runs(struct work *w)
{
	struct comparison *c = w->result;
	size_t number = 0;
	struct error *error = NULL;

	for (int side = 0; side < 2; side++)
		for (size_t r = 0; !error && r < w->runs->sides[side].count; r++, number++) {
			error = rows_init_run(&c->rows[number], w->runs->sides[side].profile, w->by,
					      (uint32_t)r);
			if (!error)
				error = add_run(w, (enum change_side)side, r, number);
		}
	return error;
}

/* -------- renamed and inlined functions -------- */

/* The row of each frame of a profile; NULL without memory. */
static uint32_t *rows_of_frames(struct work *w, const struct profile *p)
{
	uint32_t *row_of = malloc((p->frame_count + 1) * sizeof(*row_of));

	for (size_t i = 0; row_of && i < p->frame_count; i++) {
		const struct profile_frame *frame = &p->frames[i];
		const char *object = frame->object == PRF_NONE ? ""
							       : p->objects[frame->object].name;
		const uint64_t *id = NULL;

		row_common_key(&w->key, w->by, frame->name, object);
		if (row_is_shown(frame))
			id = map_get(&w->ids, w->key.data, w->key.size);
		row_of[i] = id ? (uint32_t)*id : PRF_NONE;
	}
	return row_of;
}

static struct error *find_lineages(struct work *w, struct lineage *list)
{
	const struct comparison *c = w->result;
	const char **names = malloc((c->count + 1) * sizeof(*names));
	struct lineage_side sides[2];
	struct error *error = names ? NULL : error_memory();

	for (int side = 0; side < 2; side++) {
		sides[side].profile = w->runs->sides[side].profile;
		sides[side].row_of = rows_of_frames(w, sides[side].profile);
	}
	if (!error && (!sides[0].row_of || !sides[1].row_of || !buffer_ok(&w->key)))
		error = error_memory();
	for (size_t i = 0; !error && i < c->count; i++)
		names[i] = c->list[i].name;
	if (!error)
		error = lineages_find(list, names, c->count, sides);
	free((void *)sides[0].row_of);
	free((void *)sides[1].row_of);
	free(names);
	return error;
}

/* What was counted before of a row that has another one's counts of now. */
static void take_before(struct work *w, size_t row, size_t from)
{
	struct comparison *c = w->result;
	size_t all = w->runs->all;

	for (size_t run = 0; run < w->runs->sides[CHANGE_BEFORE].count; run++) {
		w->selfs[row * all + run] = w->selfs[from * all + run];
		w->totals[row * all + run] = w->totals[from * all + run];
	}
	c->list[row].before = true;
}

static void move_row(struct work *w, size_t to, size_t from)
{
	size_t all = w->runs->all;

	w->result->list[to] = w->result->list[from];
	memmove(w->selfs + to * all, w->selfs + from * all, all * sizeof(*w->selfs));
	memmove(w->totals + to * all, w->totals + from * all, all * sizeof(*w->totals));
	memmove(w->joint + to * all, w->joint + from * all, all * sizeof(*w->joint));
}

/* The row that a row's samples are counted in where it is inlined; PRF_NONE: its own. */
static uint32_t whole_of(const struct comparison *c, const struct lineage *list, size_t row)
{
	const struct compared *one = &c->list[row];
	bool gone = (list[row].kind == LINEAGE_INLINED && !one->now) ||
		    (list[row].kind == LINEAGE_CALLED && !one->before);

	return gone ? list[row].other : PRF_NONE;
}

static void join_parts(struct work *w, const struct lineage *list)
{
	struct comparison *c = w->result;
	size_t all = w->runs->all;

	if (c->count) /* without rows there are no counts either */
		memcpy(w->joint, w->selfs, c->count * all * sizeof(*w->joint));
	for (size_t i = 0; i < c->count; i++) {
		uint32_t whole = whole_of(c, list, i);

		if (whole == PRF_NONE)
			continue;
		c->list[i].part = true;
		c->list[whole].has_parts = true;
		for (size_t run = 0; run < all; run++)
			w->joint[whole * all + run] += w->selfs[i * all + run];
	}
}

/* Renamed functions are one row each, that of the name that they have now. */
static void apply_lineages(struct work *w, const struct lineage *list)
{
	struct comparison *c = w->result;
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		struct compared *one = &c->list[i];

		one->lineage = list[i].kind;
		one->other = list[i].other == PRF_NONE ? "" : c->list[list[i].other].name;
	}
	for (size_t i = 0; i < c->count; i++)
		if (list[i].kind == LINEAGE_RENAMED && c->list[i].now)
			take_before(w, i, list[i].other);
	join_parts(w, list);
	for (size_t i = 0; i < c->count; i++)
		if (list[i].kind != LINEAGE_RENAMED || c->list[i].now)
			move_row(w, kept++, i);
	c->count = kept;
}

static struct error *add_lineages(struct work *w)
{
	struct lineage *list;
	struct error *error;

	if (w->by != ROWS_BY_FUNCTION)
		return NULL;
	list = calloc(w->result->count + 1, sizeof(*list));
	w->joint = calloc(w->result->count * w->runs->all + 1, sizeof(*w->joint));
	error = list && w->joint ? find_lineages(w, list) : error_memory();
	if (!error)
		apply_lineages(w, list);
	free(list);
	return error;
}

const char *compared_state(const struct compared *one)
{
	static const char *const lineages[] = { "", "renamed", "inlined", "called" };

	return one->lineage   ? lineages[one->lineage]
	       : !one->before ? "new"
	       : !one->now    ? "vanished"
			      : "";
}

/* -------- estimates -------- */

/* Puts the joint counts of rows with parts one after the other; their number. */
static size_t joint_counts(const struct work *w, uint64_t *counts)
{
	size_t all = w->runs->all, n = 0;

	for (size_t i = 0; i < w->result->count; i++)
		if (w->result->list[i].has_parts)
			memcpy(counts + n++ * all, w->joint + i * all, all * sizeof(*counts));
	return n;
}

/* All are tested together, so that the chance of a false alarm is that of any. */
static struct error *estimate(struct work *w)
{
	struct comparison *c = w->result;
	size_t all = w->runs->all, row = all * sizeof(*w->selfs), n = 2 * c->count;
	struct change *changes = calloc(3 * c->count + 1, sizeof(*changes));
	uint64_t *counts = malloc(3 * c->count * row + 1);
	struct error *error = changes && counts ? NULL : error_memory();

	if (!error && c->count) {
		memcpy(counts, w->selfs, c->count * row);
		memcpy(counts + c->count * all, w->totals, c->count * row);
		n += joint_counts(w, counts + n * all);
		error = compared_runs_estimate(w->runs, changes, n, counts);
	}
	n = 2 * c->count;
	for (size_t i = 0; !error && i < c->count; i++) {
		c->list[i].self = changes[i];
		c->list[i].total = changes[c->count + i];
		c->list[i].joint = c->list[i].has_parts ? changes[n++] : changes[i];
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
	const struct compared_side runs[2] = { { sides->base, 0, sides->base->trace_count },
					       { sides->now, 0, sides->now->trace_count } };
	struct work w = { .result = c, .runs = &c->runs, .by = sides->key };
	struct error *error;

	*c = (struct comparison){ 0 };
	error = compared_runs_init(&c->runs, runs, sides->scale);
	if (error)
		return error;
	c->rows = calloc(c->runs.all, sizeof(*c->rows));
	error = c->rows ? add_runs(&w) : error_memory();
	if (!error)
		error = add_lineages(&w);
	if (!error)
		error = estimate(&w);
	if (!error && c->count)
		qsort(c->list, c->count, sizeof(*c->list), compare);
	map_release(&w.ids);
	buffer_release(&w.key);
	free(w.selfs);
	free(w.totals);
	free(w.joint);
	return error;
}
