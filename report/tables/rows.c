/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/tables/rows.h"

#include "common/array.h"
#include "common/map.h"
#include "common/shortage.h"
#include "report/merge/label.h"
#include "report/merge/name_match.h"
#include "report/profile/outermost.h"

#include <stdlib.h>
#include <string.h>

struct table {
	struct rows *rows;
	enum rows_key by;
	uint32_t run; /* count this trace only, by row_common_key(); PRF_NONE: all */
	struct map ids;
	size_t capacity;
	/* Texts are kept by offset while the buffer may move. */
	struct buffer text, key;
	size_t *name_at;
};

enum rows_key rows_key_of(const char *by)
{
	static const char *const names[] = { "function", "object", "line", "thread", "comm" };

	for (unsigned int i = 0; by && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(by, names[i]))
			return (enum rows_key)i;
	return ROWS_BY_FUNCTION;
}

/* -------- names -------- */

/* The length of "::h0123456789abcdef" at the end, which Rust puts there; 0: none. */
static size_t hash_length(const char *name, size_t length)
{
	const size_t size = 3 + 16;

	if (length <= size || memcmp(name + length - size, "::h", 3))
		return 0;
	return strspn(name + length - 16, "0123456789abcdef") == 16 ? size : 0;
}

/* The length of what stands before " [clone .isra.0]" at the end; `length`: nothing like it does.
 */
static size_t before_clone(const char *name, size_t length)
{
	static const char begin[] = " [clone ";
	const char *at = length && name[length - 1] == ']' ? memrchr(name, '[', length) : NULL;

	if (!at || at == name || strncmp(at - 1, begin, strlen(begin)))
		return length;
	return (size_t)(at - 1 - name);
}

/* The length of what stands before ".isra.0" at the end; `length`: no mark of a copy does. */
static size_t before_mark(const char *name, size_t length)
{
	/* The first one may have no number. */
	static const char *const marks[] = { ".cold", ".constprop", ".isra",
					     ".part", ".llvm",	    ".lto_priv" };
	size_t end = length;

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	end = end && end < length && name[end - 1] == '.' ? end - 1 : length;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		size_t size = strlen(marks[i]);

		if (size < end && !memcmp(name + end - size, marks[i], size) &&
		    (!i || end < length))
			return end - size;
	}
	return length;
}

/*
 * The length of a function's name without what compilers add to those of copies. Marks count at the
 * end only, as a function of a script or a package may be called "main.coldStart".
 */
static size_t common_length(const char *name, size_t length)
{
	size_t before;

	while ((before = before_mark(name, before_clone(name, length))) && before < length)
		length = before;
	return length - hash_length(name, length);
}

size_t row_guess_length(const char *name)
{
	static const char guess[] = " [guessed]";
	const size_t size = strlen(guess), length = strlen(name);

	return length > size && !strcmp(name + length - size, guess) ? size : 0;
}

void row_common_key(struct buffer *key, enum rows_key by, const char *name, const char *object)
{
	size_t length = strlen(name), guess = row_guess_length(name);

	buffer_clear(key);
	if (by == ROWS_BY_FUNCTION) {
		buffer_append(key, name, common_length(name, length - guess));
		buffer_append(key, name + length - guess, guess);
	} else {
		buffer_append(key, name, length);
	}
	buffer_u8(key, 0);
	if (object[0] == '[')
		buffer_text(key, object);
}

/* -------- counting -------- */

void rows_release(struct rows *r)
{
	free(r->list);
	free(r->row_of_frame);
	if (r->names)
		buffer_release(r->names);
	free(r->names);
	*r = (struct rows){ 0 };
}

static void make_key(struct table *t, const char *object)
{
	if (t->run != PRF_NONE) {
		row_common_key(&t->key, t->by, buffer_string(&t->text), object);
		return;
	}
	buffer_clear(&t->key);
	buffer_append(&t->key, t->text.data, t->text.size);
	buffer_u8(&t->key, 0);
	buffer_text(&t->key, object);
}

/* The row with t->text as its name; UINT32_MAX without memory. */
static uint32_t add_row(struct table *t, const char *object)
{
	struct rows *r = t->rows;
	uint32_t id = UINT32_MAX;
	bool added;

	make_key(t, object);
	if (buffer_ok(&t->text) && buffer_ok(&t->key))
		id = map_number(&t->ids, t->key.data, t->key.size, (uint32_t)r->count, &added);
	if (id == UINT32_MAX || !added)
		return id;
	if (r->count == t->capacity) {
		size_t capacity = t->capacity ? t->capacity * 2 : 128;
		struct row *list = realloc(r->list, capacity * sizeof(*list));
		size_t *name_at = realloc(t->name_at, capacity * sizeof(*name_at));

		if (list)
			r->list = list;
		if (name_at)
			t->name_at = name_at;
		if (!list || !name_at)
			return UINT32_MAX;
		t->capacity = capacity;
	}
	t->name_at[r->count] = r->names->size;
	buffer_append(r->names, t->text.data, t->text.size);
	buffer_u8(r->names, 0);
	r->list[r->count] = (struct row){ .object = object };
	return (uint32_t)r->count++;
}

static uint32_t row_of_frame(struct table *t, const struct profile *p,
			     const struct profile_frame *frame)
{
	const char *object = frame->object == PRF_NONE ? "" : p->objects[frame->object].name;

	buffer_clear(&t->text);
	if (t->by == ROWS_BY_OBJECT) {
		buffer_text(&t->text, *object ? object : frame->name);
		return add_row(t, "");
	}
	if (t->by == ROWS_BY_LINE && frame->file[0])
		buffer_printf(&t->text, "%s:%u", frame->file, frame->line);
	else
		buffer_text(&t->text, frame->name);
	return add_row(t, object);
}

bool row_is_shown(const struct profile_frame *frame)
{
	return frame->kind != PROFILE_FRAME_SEPARATOR && frame->kind != PROFILE_FRAME_END &&
	       frame->kind != PROFILE_FRAME_GROUP && !frame->waker;
}

static bool is_of_trace(const struct profile *p, const struct profile_entry *e, uint32_t trace)
{
	return trace == PRF_NONE || p->groups[e->group].trace == trace;
}

/* Values of all entries at and above each node, added up from the leaves to the roots. */
struct passing {
	uint64_t *samples, *value;
};

static bool add_up(struct passing *sum, const struct profile *p, uint32_t trace)
{
	sum->samples = calloc(p->node_count + 1, sizeof(*sum->samples));
	sum->value = calloc(p->node_count + 1, sizeof(*sum->value));
	if (!sum->samples || !sum->value)
		return false;
	for (size_t i = 0; i < p->entry_count; i++) {
		const struct profile_entry *e = &p->entries[i];

		if (e->node == PRF_NONE || !is_of_trace(p, e, trace))
			continue;
		sum->samples[e->node] += e->samples;
		sum->value[e->node] += e->value;
	}
	for (size_t i = p->node_count; i-- > 0;) {
		uint32_t parent = p->nodes[i].parent;

		if (parent == PRF_NONE)
			continue;
		sum->samples[parent] += sum->samples[i];
		sum->value[parent] += sum->value[i];
	}
	return true;
}

static void release_sums(struct passing *sum)
{
	free(sum->samples);
	free(sum->value);
}

/* The row of each node that is shown; NULL without memory. */
static uint32_t *rows_of_nodes(const struct rows *r, const struct profile *p)
{
	uint32_t *row = malloc((p->node_count + 1) * sizeof(*row));

	for (size_t i = 0; row && i < p->node_count; i++) {
		uint32_t frame = p->nodes[i].frame;

		row[i] = row_is_shown(&p->frames[frame]) ? r->row_of_frame[frame] : PRF_NONE;
	}
	return row;
}

static bool count_totals(struct rows *r, const struct profile *p, const struct passing *sum)
{
	uint32_t *row = rows_of_nodes(r, p);
	bool *outermost = row ? outermost_nodes(p, row, r->count) : NULL;

	for (size_t i = 0; outermost && i < p->node_count; i++)
		if (outermost[i]) {
			r->list[row[i]].total += sum->value[i];
			r->list[row[i]].total_samples += sum->samples[i];
		}
	free(row);
	free(outermost);
	return outermost;
}

static bool count_frames(struct table *t, const struct profile *p)
{
	struct rows *r = t->rows;
	struct passing sum = { 0 };
	bool ok = false;

	r->row_of_frame = malloc((p->frame_count + 1) * sizeof(*r->row_of_frame));
	if (!r->row_of_frame || !add_up(&sum, p, t->run))
		goto out;
	for (size_t i = 0; i < p->frame_count; i++) {
		r->row_of_frame[i] = row_of_frame(t, p, &p->frames[i]);
		if (r->row_of_frame[i] == UINT32_MAX)
			goto out;
	}
	for (size_t i = 0; i < p->entry_count; i++) {
		const struct profile_entry *e = &p->entries[i];
		uint32_t node = e->node;
		struct row *row;

		if (!is_of_trace(p, e, t->run))
			continue;
		/* What was counted in a function is its own, even if a separator lies on it. */
		while (node != PRF_NONE && !row_is_shown(&p->frames[p->nodes[node].frame]))
			node = p->nodes[node].parent;
		if (node == PRF_NONE)
			continue;
		row = &r->list[r->row_of_frame[p->nodes[node].frame]];
		row->self += e->value;
		row->self_samples += e->samples;
	}
	ok = count_totals(r, p, &sum);
out:
	release_sums(&sum);
	return ok;
}

static bool count_groups(struct table *t, const struct profile *p)
{
	for (size_t i = 0; i < p->entry_count; i++) {
		const struct profile_entry *e = &p->entries[i];
		struct row *row;
		uint32_t id;

		if (!is_of_trace(p, e, t->run))
			continue;
		buffer_clear(&t->text);
		label_group(&t->text, p, e,
			    t->by == ROWS_BY_COMM ? PROFILE_BY_COMM : PROFILE_BY_THREAD);
		id = add_row(t, "");
		if (id == UINT32_MAX)
			return false;
		row = &t->rows->list[id];
		row->self += e->value;
		row->total += e->value;
		row->self_samples += e->samples;
		row->total_samples += e->samples;
	}
	return true;
}

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order;

	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->object, b->object);
}

static int compare_totals(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return compare_rows(left, right);
}

void rows_sort_by_total(struct rows *r)
{
	if (r->count)
		qsort(r->list, r->count, sizeof(*r->list), compare_totals);
}

static struct error *fill(struct rows *r, const struct profile *p, enum rows_key by, uint32_t run)
{
	struct table t = { .rows = r, .by = by, .run = run };
	bool ok;

	*r = (struct rows){ .names = calloc(1, sizeof(*r->names)) };
	if (!r->names)
		return error_memory();
	ok = by == ROWS_BY_THREAD || by == ROWS_BY_COMM ? count_groups(&t, p) : count_frames(&t, p);
	ok = ok && buffer_ok(r->names);
	for (size_t i = 0; ok && i < r->count; i++)
		r->list[i].name = (const char *)r->names->data + t.name_at[i];
	map_release(&t.ids);
	buffer_release(&t.text);
	buffer_release(&t.key);
	free(t.name_at);
	return ok ? NULL : error_memory();
}

struct error *rows_init(struct rows *r, const struct profile *p, enum rows_key by)
{
	return rows_init_run(r, p, by, PRF_NONE);
}

struct error *rows_init_run(struct rows *r, const struct profile *p, enum rows_key by, uint32_t run)
{
	struct error *error = fill(r, p, by, run);
	size_t kept = 0;

	if (error)
		return error;
	/* Separators and the like have a row, but nothing in it. */
	for (size_t i = 0; i < r->count; i++)
		if (r->list[i].total_samples)
			r->list[kept++] = r->list[i];
	r->count = kept;
	if (kept)
		qsort(r->list, kept, sizeof(*r->list), compare_rows);
	return NULL;
}

/* -------- callers and callees -------- */

/* What was counted where `row` was called by another one, or called it. */
struct edge {
	uint32_t row;
	bool callee; /* `other` is */
	struct row other;
};

/* A row in the stack that is gone through. */
struct meeting {
	size_t stack;		 /* the last one that had it, counted from 1 */
	uint32_t caller, callee; /* the number of rows: none */
};

/* Of all wanted rows at once: all functions may be wanted, and each stack is gone through once. */
struct edges {
	const struct rows *rows;
	const struct profile *profile;
	bool *wanted;		 /* by row */
	struct meeting *meeting; /* by row */
	uint32_t *met;		 /* wanted rows of the stack, each once */
	size_t met_count;
	struct map ids; /* row, other row, callee -> place in the list */
	struct edge *list;
	size_t count, capacity;
	size_t taken; /* of the list */
};

static void edges_release(struct edges *g)
{
	free(g->wanted);
	free(g->meeting);
	free(g->met);
	free(g->list);
	map_release(&g->ids);
}

/* How many rows are wanted; UINT32_MAX without memory. */
static uint32_t edges_init(struct edges *g, const regex_t *name)
{
	const size_t n = g->rows->count;
	uint32_t wanted = 0;

	g->wanted = calloc(n + 1, sizeof(*g->wanted));
	g->meeting = calloc(n + 1, sizeof(*g->meeting));
	g->met = calloc(n + 1, sizeof(*g->met));
	if (!g->wanted || !g->meeting || !g->met)
		return UINT32_MAX;
	shortage_take();
	for (size_t i = 0; i < n; i++) {
		const struct row *row = &g->rows->list[i];

		g->wanted[i] = row->total_samples && name_matches(name, row->name);
		wanted += g->wanted[i];
	}
	return shortage_take() ? UINT32_MAX : wanted;
}

/*
 * The caller is that of the outermost occurrence in the stack, the callee that of the
 * innermost one, so that recursion does not count a sample twice.
 */
static void meet_rows(struct edges *g, size_t entry)
{
	const struct profile *p = g->profile;
	const uint32_t none = (uint32_t)g->rows->count;
	uint32_t below = none;

	g->met_count = 0;
	for (uint32_t node = p->entries[entry].node; node != PRF_NONE;
	     node = p->nodes[node].parent) {
		uint32_t at = g->rows->row_of_frame[p->nodes[node].frame];
		struct meeting *m = &g->meeting[at];

		if (!row_is_shown(&p->frames[p->nodes[node].frame]))
			continue;
		if (below != none)
			g->meeting[below].caller = at;
		if (m->stack != entry + 1) {
			*m = (struct meeting){ .stack = entry + 1, .callee = below };
			if (g->wanted[at])
				g->met[g->met_count++] = at;
		}
		m->caller = none;
		below = at;
	}
}

/* `key`: the row, the other one, and whether that is the callee. */
static bool count_edge(struct edges *g, const uint32_t key[3], const struct profile_entry *e)
{
	bool added;
	uint32_t id = map_number(&g->ids, key, 3 * sizeof(*key), (uint32_t)g->count, &added);
	struct edge *edge;

	if (id == UINT32_MAX || !array_reserve(&g->list, &g->capacity, (size_t)id + 1))
		return false;
	edge = &g->list[id];
	if (added) {
		*edge = (struct edge){ .row = key[0], .callee = key[2] };
		edge->other.name = edge->callee ? "[self]" : "[root]";
		edge->other.object = "";
		if (key[1] < g->rows->count) {
			edge->other.name = g->rows->list[key[1]].name;
			edge->other.object = g->rows->list[key[1]].object;
		}
		g->count++;
	}
	edge->other.total += e->value;
	edge->other.total_samples += e->samples;
	return true;
}

static bool count_edges(struct edges *g)
{
	bool ok = true;

	for (size_t i = 0; ok && i < g->profile->entry_count; i++) {
		const struct profile_entry *e = &g->profile->entries[i];

		meet_rows(g, i);
		for (size_t k = 0; ok && k < g->met_count; k++) {
			uint32_t row = g->met[k];
			const struct meeting *m = &g->meeting[row];

			ok = count_edge(g, (uint32_t[]){ row, m->caller, false }, e) &&
			     count_edge(g, (uint32_t[]){ row, m->callee, true }, e);
		}
	}
	return ok;
}

/* By row, its callers before its callees. */
static int compare_edges(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->callee != b->callee)
		return a->callee ? 1 : -1;
	return compare_totals(&a->other, &b->other);
}

/* Takes the edges of one side of a row, which come next in the list. */
static bool take_side(struct edges *g, const struct edge *side, struct row **list, size_t *n)
{
	size_t end = g->taken;

	while (end < g->count && g->list[end].row == side->row &&
	       g->list[end].callee == side->callee)
		end++;
	*list = calloc(end - g->taken + 1, sizeof(**list));
	for (; *list && g->taken < end; g->taken++)
		if (g->list[g->taken].other.total_samples)
			(*list)[(*n)++] = g->list[g->taken].other;
	return *list;
}

static int compare_neighbours(const void *left, const void *right)
{
	const struct row_neighbours *a = left, *b = right;

	return compare_totals(&a->row, &b->row);
}

/* Names and objects of the table, which goes, to those of the profile, which stays. */
static bool keep_names(struct row_neighbours *n)
{
	struct row *parts[] = { &n->row, n->callers, n->callees };
	size_t counts[] = { 1, n->caller_count, n->callee_count };
	bool ok = true;

	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < counts[i]; k++) {
			parts[i][k].name = strdup(parts[i][k].name);
			ok = ok && parts[i][k].name;
		}
	return ok;
}

void rows_neighbours_free(struct row_neighbours *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free((char *)(uintptr_t)list[i].row.name);
		for (size_t k = 0; k < list[i].caller_count; k++)
			free((char *)(uintptr_t)list[i].callers[k].name);
		for (size_t k = 0; k < list[i].callee_count; k++)
			free((char *)(uintptr_t)list[i].callees[k].name);
		free(list[i].callers);
		free(list[i].callees);
	}
	free(list);
}

static bool take_neighbours(struct edges *g, struct row_neighbours *list, size_t *n)
{
	bool ok = true;

	if (g->count)
		qsort(g->list, g->count, sizeof(*g->list), compare_edges);
	for (uint32_t i = 0; ok && i < g->rows->count; i++) {
		struct row_neighbours *one = &list[*n];
		const struct edge callers = { .row = i }, callees = { .row = i, .callee = true };

		if (!g->wanted[i])
			continue;
		(*n)++;
		one->row = g->rows->list[i];
		ok = take_side(g, &callers, &one->callers, &one->caller_count) &&
		     take_side(g, &callees, &one->callees, &one->callee_count);
		ok = keep_names(one) && ok;
	}
	return ok;
}

struct error *rows_neighbours(struct row_neighbours **list, size_t *n, const struct profile *p,
			      const regex_t *name)
{
	struct rows r;
	struct error *error = fill(&r, p, ROWS_BY_FUNCTION, PRF_NONE);
	struct edges g = { .rows = &r, .profile = p };
	uint32_t wanted = error ? 0 : edges_init(&g, name);

	*n = 0;
	*list = NULL;
	if (!error && wanted != UINT32_MAX)
		*list = calloc((size_t)wanted + 1, sizeof(**list));
	if (!error && (!*list || !count_edges(&g) || !take_neighbours(&g, *list, n)))
		error = error_memory();
	if (!error && *n)
		qsort(*list, *n, sizeof(**list), compare_neighbours);
	edges_release(&g);
	rows_release(&r);
	if (error) {
		rows_neighbours_free(*list, *n);
		*list = NULL;
		*n = 0;
	}
	return error;
}
