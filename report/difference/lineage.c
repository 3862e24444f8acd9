/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/difference/lineage.h"

#include "common/array.h"
#include "common/buffer.h"
#include "common/map.h"
#include "report/symbols/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define EVIDENCE                                                                                   \
	20 /* a call is evidence with this part of the samples, and is otherwise chance            \
	    */

/* Among more than these, which one caller calls on one side only, none stands out. */
#define CANDIDATES_MAX 200

/* What is renamed may show what else is, so often. */
#define PASSES_MAX 100

/* What row `from` calls directly; the number of rows stands for who calls the outermost ones. */
struct call {
	uint32_t from, to;
	uint64_t samples[2];
};

/* `caller` calls `called` through a row that only one side has. */
struct way {
	uint32_t caller, row, called;
	uint64_t samples;
};

/* A row on one side. */
struct presence {
	uint64_t samples, inlined; /* at nodes of it, and those at which it is inlined */
	const char *object;
	bool unnamed; /* it stands for an object, or for no code */
};

struct search {
	struct lineage *list;
	const char *const *names;
	size_t n;
	struct presence *rows[2];
	struct call *calls;
	size_t call_count, call_capacity;
	struct map call_ids;
	/* Numbers of calls, by who calls and by what is called; those of row i begin at starts[i].
	 */
	uint32_t *calls_from, *from_starts, *calls_to, *to_starts;
	struct way *ways;
	size_t way_count, way_capacity;
	struct map way_ids;
	struct map objects; /* names of an object before and of that now, which share a row */
	struct buffer key;
};

static void release(struct search *s)
{
	for (int side = 0; side < 2; side++)
		free(s->rows[side]);
	free(s->calls);
	map_release(&s->call_ids);
	free(s->calls_from);
	free(s->from_starts);
	free(s->calls_to);
	free(s->to_starts);
	free(s->ways);
	map_release(&s->way_ids);
	map_release(&s->objects);
	buffer_release(&s->key);
}

/* -------- what is on each side -------- */

static bool is_there(const struct search *s, uint32_t row, int side)
{
	return row == s->n || s->rows[side][row].samples;
}

static bool is_on_one_side(const struct search *s, uint32_t row)
{
	return is_there(s, row, 0) != is_there(s, row, 1);
}

/* Nodes of one profile: the samples at and above each, and which nodes with rows they lie on. */
struct paths {
	const struct lineage_side *side;
	uint64_t *samples;
	uint32_t *row;	  /* of each node, PRF_NONE: none */
	uint32_t *caller; /* the next one with a row */
	uint32_t *beyond; /* the next one with another row */
};

static void paths_release(struct paths *p)
{
	free(p->samples);
	free(p->row);
	free(p->caller);
	free(p->beyond);
}

static bool paths_init(struct paths *p, const struct lineage_side *side)
{
	const struct profile *profile = side->profile;
	size_t n = profile->node_count + 1;

	*p = (struct paths){ side, calloc(n, sizeof(*p->samples)), calloc(n, sizeof(*p->row)),
			     calloc(n, sizeof(*p->caller)), calloc(n, sizeof(*p->beyond)) };
	if (!p->samples || !p->row || !p->caller || !p->beyond)
		return false;
	for (size_t i = 0; i < profile->entry_count; i++)
		if (profile->entries[i].node != PRF_NONE)
			p->samples[profile->entries[i].node] += profile->entries[i].samples;
	for (size_t i = profile->node_count; i-- > 0;)
		if (profile->nodes[i].parent != PRF_NONE)
			p->samples[profile->nodes[i].parent] += p->samples[i];
	for (size_t i = 0; i < profile->node_count; i++) {
		uint32_t parent = profile->nodes[i].parent, on = PRF_NONE;

		p->row[i] = side->row_of[profile->nodes[i].frame];
		if (parent != PRF_NONE)
			on = p->row[parent] == PRF_NONE ? p->caller[parent] : parent;
		p->caller[i] = on;
		p->beyond[i] = on != PRF_NONE && p->row[on] == p->row[i] ? p->beyond[on] : on;
	}
	return true;
}

static void add_presence(struct search *s, const struct paths *p, int side)
{
	const struct profile *profile = p->side->profile;

	for (size_t i = 0; i < profile->node_count; i++) {
		const struct profile_frame *frame = &profile->frames[profile->nodes[i].frame];
		struct presence *row;

		if (p->row[i] == PRF_NONE || !p->samples[i])
			continue;
		row = &s->rows[side][p->row[i]];
		row->samples += p->samples[i];
		row->inlined += frame->inlined ? p->samples[i] : 0;
		row->unnamed |= !frame->named;
		row->object = frame->object == PRF_NONE ? "" : profile->objects[frame->object].name;
	}
}

static struct call *find_call(const struct search *s, uint32_t from, uint32_t to)
{
	const uint32_t key[2] = { from, to };
	const uint64_t *id = map_get(&s->call_ids, key, sizeof(key));

	return id ? &s->calls[*id] : NULL;
}

static bool add_call(struct search *s, uint32_t from, uint32_t to, int side, uint64_t samples)
{
	const uint32_t key[2] = { from, to };
	bool added;
	uint32_t id = map_number(&s->call_ids, key, sizeof(key), (uint32_t)s->call_count, &added);

	if (id == UINT32_MAX || !array_reserve(&s->calls, &s->call_capacity, s->call_count + 1))
		return false;
	if (added)
		s->calls[s->call_count++] = (struct call){ .from = from, .to = to };
	s->calls[id].samples[side] += samples;
	return true;
}

static bool add_way(struct search *s, const struct way *way)
{
	const uint32_t key[3] = { way->caller, way->row, way->called };
	bool added;
	uint32_t id = map_number(&s->way_ids, key, sizeof(key), (uint32_t)s->way_count, &added);

	if (id == UINT32_MAX || !array_reserve(&s->ways, &s->way_capacity, s->way_count + 1))
		return false;
	if (added)
		s->ways[s->way_count++] = (struct way){ key[0], key[1], key[2], 0 };
	s->ways[id].samples += way->samples;
	return true;
}

/* The row of a node, which may be none. */
static uint32_t row_at(const struct search *s, const struct paths *p, uint32_t node)
{
	return node == PRF_NONE ? (uint32_t)s->n : p->row[node];
}

static bool add_calls(struct search *s, const struct paths *p, int side)
{
	for (size_t i = 0; i < p->side->profile->node_count; i++)
		if (p->row[i] != PRF_NONE && p->samples[i] &&
		    !add_call(s, row_at(s, p, p->caller[i]), p->row[i], side, p->samples[i]))
			return false;
	return true;
}

/* Once it is known which rows are on one side only. */
static bool add_ways(struct search *s, const struct paths *p)
{
	for (size_t i = 0; i < p->side->profile->node_count; i++) {
		uint32_t through = p->caller[i];
		struct way way;

		if (p->row[i] == PRF_NONE || !p->samples[i] || through == PRF_NONE ||
		    through != p->beyond[i] || !is_on_one_side(s, p->row[through]))
			continue;
		way = (struct way){ row_at(s, p, p->beyond[through]), p->row[through], p->row[i],
				    p->samples[i] };
		if (!add_way(s, &way))
			return false;
	}
	return true;
}

/* `order` gets the numbers of all calls, those of row i from starts[i] on. */
static bool sort_calls(const struct search *s, bool by_caller, uint32_t **order, uint32_t **starts)
{
	uint32_t *next = calloc(s->n + 2, sizeof(*next));

	*order = calloc(s->call_count + 1, sizeof(**order));
	*starts = calloc(s->n + 2, sizeof(**starts));
	if (!next || !*order || !*starts) {
		free(next);
		return false;
	}
	for (size_t i = 0; i < s->call_count; i++)
		(*starts)[(by_caller ? s->calls[i].from : s->calls[i].to) + 1]++;
	for (size_t i = 0; i <= s->n; i++)
		(*starts)[i + 1] += (*starts)[i];
	memcpy(next, *starts, (s->n + 2) * sizeof(*next));
	for (size_t i = 0; i < s->call_count; i++)
		(*order)[next[by_caller ? s->calls[i].from : s->calls[i].to]++] = (uint32_t)i;
	free(next);
	return true;
}

/* The key of the objects that a row lies in before, and another one now. */
static bool objects_key(struct search *s, uint32_t before, uint32_t now)
{
	buffer_clear(&s->key);
	buffer_text(&s->key, s->rows[0][before].object);
	buffer_u8(&s->key, 0);
	buffer_text(&s->key, s->rows[1][now].object);
	return buffer_ok(&s->key);
}

static bool add_objects(struct search *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (is_there(s, i, 0) && is_there(s, i, 1) &&
		    (!objects_key(s, i, i) ||
		     !map_put(&s->objects, s->key.data, s->key.size, NULL)))
			return false;
	return true;
}

static struct error *read_sides(struct search *s, const struct lineage_side sides[2])
{
	struct paths paths[2] = { { 0 }, { 0 } };
	bool ok = true;

	for (int side = 0; ok && side < 2; side++) {
		s->rows[side] = calloc(s->n + 1, sizeof(*s->rows[side]));
		ok = s->rows[side] && paths_init(&paths[side], &sides[side]);
		if (ok) {
			add_presence(s, &paths[side], side);
			ok = add_calls(s, &paths[side], side);
		}
	}
	for (int side = 0; ok && side < 2; side++)
		ok = add_ways(s, &paths[side]);
	ok = ok && add_objects(s) && sort_calls(s, true, &s->calls_from, &s->from_starts) &&
	     sort_calls(s, false, &s->calls_to, &s->to_starts);
	for (int side = 0; side < 2; side++)
		paths_release(&paths[side]);
	return ok ? NULL : error_memory();
}

/* -------- renamed -------- */

/* Whether this side alone has a row, a function of which nothing more is known yet. */
static bool has_only(const struct search *s, uint32_t row, int side)
{
	const struct presence *here = &s->rows[side][row];

	return !is_there(s, row, !side) && here->samples >= LINEAGE_SAMPLES && !here->unnamed &&
	       s->list[row].kind == LINEAGE_NONE;
}

/* What a row is called on the other side, as far as is known. */
static uint32_t on_other_side(const struct search *s, uint32_t row)
{
	return row < s->n && s->list[row].kind == LINEAGE_RENAMED ? s->list[row].other : row;
}

/*
 * Whether the other side has each caller (or called row) of `row` that is evidence, as one of
 * `other`. `count` gets how many there are.
 */
static bool neighbours_agree(const struct search *s, uint32_t row, uint32_t other, int side,
			     bool callers, size_t *count)
{
	const uint32_t *order = callers ? s->calls_to : s->calls_from;
	const uint32_t *starts = callers ? s->to_starts : s->from_starts;

	*count = 0;
	for (uint32_t i = starts[row]; i < starts[row + 1]; i++) {
		const struct call *call = &s->calls[order[i]], *theirs;
		uint32_t neighbour = callers ? call->from : call->to;

		if (call->samples[side] * EVIDENCE < s->rows[side][row].samples)
			continue;
		/* Recursion stays recursion. */
		neighbour = neighbour == row ? other : on_other_side(s, neighbour);
		theirs = callers ? find_call(s, neighbour, other) : find_call(s, other, neighbour);
		if (!theirs || !theirs->samples[!side])
			return false;
		++*count;
	}
	return true;
}

/* Versions of one library have other numbers in their names. */
static bool objects_agree(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (isdigit((unsigned char)*a) || *a == '.' || *a == '-')
			a++;
		while (isdigit((unsigned char)*b) || *b == '.' || *b == '-')
			b++;
		if (*a != *b || !*a)
			return *a == *b;
	}
}

/* Two files are the same object, too, if they have a function in common. */
static bool same_object(struct search *s, uint32_t before, uint32_t now)
{
	if (objects_agree(s->rows[0][before].object, s->rows[1][now].object))
		return true;
	return objects_key(s, before, now) && map_get(&s->objects, s->key.data, s->key.size);
}

/* Whether "<", after `size` bytes of a name, begins template arguments. */
static bool begins_arguments(const char *name, size_t size, const char *bracket)
{
	/* "<impl X for Y>" says whose method it is. */
	if (!size || !strncmp(bracket, "<impl ", 6))
		return false;
	if (size >= 8 && !memcmp(name + size - 8, "operator", 8))
		return false;
	return name[size - 1] == ':' || name[size - 1] == '_' ||
	       isalnum((unsigned char)name[size - 1]);
}

/* Without template arguments, function arguments and version, into `to` of the name's size. */
static void stem_of(char *to, const char *name)
{
	/* Parentheses in a Rust name are types. */
	bool path_style = name[0] == '<' || strstr(name, "::<") || strstr(name, "<impl ");
	size_t size = 0;

	shorten_name(to, name, path_style);
	for (const char *at = to; *at && *at != '@'; at++) {
		const char *close = NULL;

		if (*at == '<' && begins_arguments(to, size, at))
			close = strchr(at, '>');
		if (close)
			at = close;
		else
			to[size++] = *at;
	}
	to[size] = 0;
}

static bool stems_agree(const struct search *s, uint32_t before, uint32_t now)
{
	const char *was = s->names[before], *is = s->names[now];
	char *a = malloc(strlen(was) + 1), *b = malloc(strlen(is) + 1);
	bool agree = false;

	/* Without memory nothing is known, as where names differ. */
	if (a && b) {
		stem_of(a, was);
		stem_of(b, is);
		agree = !strcmp(a, b);
	}
	free(a);
	free(b);
	return agree;
}

enum evidence { BY_NAME, BY_CALLS };

static bool is_match(struct search *s, uint32_t before, uint32_t now, enum evidence evidence)
{
	size_t callers, called, n;

	if (!neighbours_agree(s, before, now, 0, true, &callers) || !callers ||
	    !neighbours_agree(s, now, before, 1, true, &n) || !n)
		return false;
	if (evidence == BY_NAME)
		return stems_agree(s, before, now) && same_object(s, before, now);
	return neighbours_agree(s, before, now, 0, false, &called) &&
	       neighbours_agree(s, now, before, 1, false, &n) && called && n &&
	       callers + called >= 3 && same_object(s, before, now);
}

/* The caller of most of a row's samples; the row itself: it has no caller that is known. */
static uint32_t main_caller(const struct search *s, uint32_t row, int side)
{
	const struct call *most = NULL;

	for (uint32_t i = s->to_starts[row]; i < s->to_starts[row + 1]; i++) {
		const struct call *call = &s->calls[s->calls_to[i]];

		if (call->from != row && (!most || call->samples[side] > most->samples[side]))
			most = call;
	}
	return most ? most->from : row;
}

/* The only row of the other side that matches; PRF_NONE: there is none, or several. */
static uint32_t only_match(struct search *s, uint32_t row, int side, enum evidence evidence)
{
	uint32_t caller = on_other_side(s, main_caller(s, row, side)), found = PRF_NONE;
	size_t candidates = 0;

	for (uint32_t i = s->from_starts[caller]; i < s->from_starts[caller + 1]; i++) {
		uint32_t other = s->calls[s->calls_from[i]].to;

		if (!has_only(s, other, !side))
			continue;
		if (++candidates > CANDIDATES_MAX)
			return PRF_NONE;
		if (!is_match(s, side ? other : row, side ? row : other, evidence))
			continue;
		if (found != PRF_NONE)
			return PRF_NONE;
		found = other;
	}
	return found;
}

static bool find_renamed(struct search *s, enum evidence evidence)
{
	bool found = false;

	for (uint32_t row = 0; row < s->n; row++) {
		uint32_t other;

		if (!has_only(s, row, 0))
			continue;
		other = only_match(s, row, 0, evidence);
		if (other == PRF_NONE || only_match(s, other, 1, evidence) != row)
			continue;
		s->list[row] = (struct lineage){ LINEAGE_RENAMED, other };
		s->list[other] = (struct lineage){ LINEAGE_RENAMED, row };
		found = true;
	}
	return found;
}

/* -------- inlined -------- */

static enum lineage_kind inlined_on(int side)
{
	return side ? LINEAGE_INLINED : LINEAGE_CALLED;
}

/* The only caller of a row that is evidence. */
static uint32_t only_caller(const struct search *s, uint32_t row, int side)
{
	uint32_t found = PRF_NONE;

	for (uint32_t i = s->to_starts[row]; i < s->to_starts[row + 1]; i++) {
		const struct call *call = &s->calls[s->calls_to[i]];

		if (call->samples[side] * EVIDENCE < s->rows[side][row].samples)
			continue;
		if (found != PRF_NONE || call->from == row || call->from == s->n)
			return PRF_NONE;
		found = call->from;
	}
	return found;
}

/* By the debug information of the side that has it inlined. */
static void find_seen_inlined(struct search *s)
{
	for (uint32_t row = 0; row < s->n; row++)
		for (int side = 0; side < 2; side++) {
			const struct presence *here = &s->rows[side][row];
			const struct presence *there = &s->rows[!side][row];

			if (here->samples >= LINEAGE_SAMPLES && here->inlined == here->samples &&
			    there->samples >= LINEAGE_SAMPLES && !there->inlined)
				s->list[row] = (struct lineage){ inlined_on(side),
								 only_caller(s, row, side) };
		}
}

/* Whether what was called through a row is now called directly, as it was not before. */
static bool is_taken_over(const struct search *s, const struct way *way, int side)
{
	const struct call *call = find_call(s, way->caller, way->called);

	return way->caller != s->n && way->caller != way->called && call && call->samples[!side] &&
	       !call->samples[side];
}

/*
 * A row that may have been inlined, but for its ways: NONE of them has been seen, all that were are
 * taken over, or one is not.
 */
enum taken { NONE, ALL, NOT_ALL };

/* Without debug information a function of one side is gone with its name; its calls show where. */
static struct error *find_unseen_inlined(struct search *s)
{
	enum taken *taken = calloc(s->n + 1, sizeof(*taken));

	if (!taken)
		return error_memory();
	for (size_t i = 0; i < s->way_count; i++) {
		const struct way *way = &s->ways[i];
		int side = !is_there(s, way->row, 0);

		if (way->samples * EVIDENCE < s->rows[side][way->row].samples)
			continue;
		if (!is_taken_over(s, way, side))
			taken[way->row] = NOT_ALL;
		else if (taken[way->row] == NONE)
			taken[way->row] = ALL;
	}
	for (uint32_t row = 0; row < s->n; row++) {
		int side = !is_there(s, row, 0);

		if (taken[row] == ALL && has_only(s, row, side))
			s->list[row] = (struct lineage){ inlined_on(!side),
							 only_caller(s, row, side) };
	}
	free(taken);
	return NULL;
}

/* -------- all of it -------- */

struct error *lineages_find(struct lineage *list, const char *const *names, size_t n,
			    const struct lineage_side sides[2])
{
	struct search s = { .list = list, .names = names, .n = n };
	struct error *error;

	for (size_t i = 0; i < n; i++)
		list[i] = (struct lineage){ LINEAGE_NONE, PRF_NONE };
	error = read_sides(&s, sides);
	if (!error) {
		for (int pass = 0; pass < PASSES_MAX; pass++)
			if (!find_renamed(&s, BY_NAME) && !find_renamed(&s, BY_CALLS))
				break;
		find_seen_inlined(&s);
		error = find_unseen_inlined(&s);
	}
	release(&s);
	return error;
}
