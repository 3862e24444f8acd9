/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/difference/lineage.h"

#include "common/array.h"
#include "common/buffer.h"
#include "common/map.h"
#include "report/difference/stem.h"
#include "report/output/progress.h"
#include "report/profile/outermost.h"

#include <stdlib.h>
#include <string.h>

/* A call is evidence with a twentieth of the samples of a row, and is otherwise chance. */
#define EVIDENCE_PARTS 20

/* What was called through a row and is now called directly has at least half of its samples. */
#define TAKEN_OVER_PARTS 2

/* Among more than these, which one caller calls on one side only, none stands out. */
#define CANDIDATES_MAX 200

/* What is renamed may show what else is, so often. */
#define PASSES_MAX 100

/* What row `from` calls directly; the number of rows stands for who calls the outermost ones. */
struct call {
	uint32_t from, to;
};

/* `caller` calls `called` through a row that only one side has. */
struct way {
	uint32_t caller, row, called;
};

/* A row on one side. */
struct presence {
	uint64_t samples;
	const char *object;
	bool several_objects;
	bool unnamed;	     /* it stands for an object, or for no code */
	bool kernel, script; /* of which kind it is */
	bool mangled;	     /* its names are made of linkage names, with arguments and the like */
	bool inlined, apart; /* in places it is inlined; in places it is a function of its own */
	bool in_inlining;    /* functions are seen inlined in its object */
};

/* Calls by a row of theirs; those of row i begin at starts[i]. */
struct index {
	uint32_t *calls, *starts;
};

enum index_kind {
	CALLERS,     /* calls that are evidence, by what is called */
	CALLED,	     /* ... and by who calls */
	ONLY_BEFORE, /* calls of what only the side before has, by who calls */
	ONLY_NOW,    /* ... and of what only that of now has */
	INDEXES
};

struct search {
	struct lineage *list;
	const char *const *names;
	size_t n;
	double totals[2]; /* samples */
	struct presence *rows[2];
	struct call *calls;
	size_t call_count, call_capacity;
	struct map call_ids;
	uint64_t *call_samples[2];
	struct index indexes[INDEXES];
	struct way *ways;
	size_t way_count, way_capacity;
	struct map way_ids;
	uint64_t *way_samples[2];
	struct map objects; /* names of an object before and of that now, which share a row */
	struct buffer key;
	struct progress
		progress; /* in rows of a pass, of which it is not known how many there will be */
};

static void release(struct search *s)
{
	for (int side = 0; side < 2; side++) {
		free(s->rows[side]);
		free(s->call_samples[side]);
		free(s->way_samples[side]);
	}
	free(s->calls);
	map_release(&s->call_ids);
	for (int kind = 0; kind < INDEXES; kind++) {
		free(s->indexes[kind].calls);
		free(s->indexes[kind].starts);
	}
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
	uint32_t *number; /* of its call or way, PRF_NONE: none */
};

static void paths_release(struct paths *p)
{
	free(p->samples);
	free(p->row);
	free(p->caller);
	free(p->beyond);
	free(p->number);
}

static bool paths_init(struct paths *p, const struct lineage_side *side)
{
	const struct profile *profile = side->profile;
	size_t n = profile->node_count + 1;

	*p = (struct paths){ side,
			     calloc(n, sizeof(*p->samples)),
			     calloc(n, sizeof(*p->row)),
			     calloc(n, sizeof(*p->caller)),
			     calloc(n, sizeof(*p->beyond)),
			     calloc(n, sizeof(*p->number)) };
	if (!p->samples || !p->row || !p->caller || !p->beyond || !p->number)
		return false;
	for (size_t i = 0; i < profile->entry_count; i++)
		if (profile->entries[i].node != PRF_NONE)
			p->samples[profile->entries[i].node] += profile->entries[i].samples;
	for (size_t i = profile->node_count; i-- > 0;)
		if (profile->nodes[i].parent != PRF_NONE)
			p->samples[profile->nodes[i].parent] += p->samples[i];
	for (size_t i = 0; i < profile->node_count; i++) {
		uint32_t parent = profile->nodes[i].parent, on = PRF_NONE;

		p->row[i] = p->samples[i] ? side->row_of[profile->nodes[i].frame] : PRF_NONE;
		if (parent != PRF_NONE)
			on = p->row[parent] == PRF_NONE ? p->caller[parent] : parent;
		p->caller[i] = on;
		p->beyond[i] = on != PRF_NONE && p->row[on] == p->row[i] ? p->beyond[on] : on;
	}
	return true;
}

/* The samples of each number below n, which nodes have; NULL without memory. */
static uint64_t *sums_of(const struct paths *p, const uint32_t *number, size_t n)
{
	const struct profile *profile = p->side->profile;
	uint64_t *sums = calloc(n + 1, sizeof(*sums));
	bool *outermost = sums ? outermost_nodes(profile, number, n) : NULL;

	for (size_t i = 0; outermost && i < profile->node_count; i++)
		if (outermost[i])
			sums[number[i]] += p->samples[i];
	if (!outermost) {
		free(sums);
		sums = NULL;
	}
	free(outermost);
	return sums;
}

static bool is_mangled(const char *linkage_name)
{
	return linkage_name[0] == '_' && linkage_name[1] && strchr("ZRD", linkage_name[1]);
}

static void describe_row(struct presence *row, const struct profile *profile,
			 const struct profile_frame *frame, const bool *inlining)
{
	const char *object = frame->object == PRF_NONE ? "" : profile->objects[frame->object].name;

	row->several_objects |= row->object && strcmp(row->object, object);
	row->object = object;
	row->unnamed |= !frame->named;
	row->kernel |= frame->kind == PROFILE_FRAME_KERNEL;
	row->script |= frame->kind == PROFILE_FRAME_SCRIPT;
	row->mangled |= is_mangled(frame->linkage_name);
	row->inlined |= frame->inlined;
	row->apart |= !frame->inlined;
	row->in_inlining |= frame->object != PRF_NONE && inlining[frame->object];
}

static bool add_presence(struct search *s, const struct paths *p, int side)
{
	const struct profile *profile = p->side->profile;
	bool *inlining = calloc(profile->object_count + 1, sizeof(*inlining));
	uint64_t *sums = sums_of(p, p->row, s->n);
	bool ok = inlining && sums;

	s->totals[side] = (double)profile->samples;
	for (size_t i = 0; ok && i < profile->frame_count; i++)
		if (profile->frames[i].inlined && profile->frames[i].object != PRF_NONE)
			inlining[profile->frames[i].object] = true;
	for (size_t i = 0; ok && i < profile->node_count; i++)
		if (p->row[i] != PRF_NONE)
			describe_row(&s->rows[side][p->row[i]], profile,
				     &profile->frames[profile->nodes[i].frame], inlining);
	for (size_t i = 0; ok && i < s->n; i++)
		s->rows[side][i].samples = sums[i];
	free(inlining);
	free(sums);
	return ok;
}

/* The number of a call; PRF_NONE: there is none. */
static uint32_t find_call(const struct search *s, uint32_t from, uint32_t to)
{
	const uint32_t key[2] = { from, to };
	const uint64_t *id = map_get(&s->call_ids, key, sizeof(key));

	return id ? (uint32_t)*id : PRF_NONE;
}

/* The row of a node, which may be none. */
static uint32_t row_at(const struct search *s, const struct paths *p, uint32_t node)
{
	return node == PRF_NONE ? (uint32_t)s->n : p->row[node];
}

/* Numbers the calls to each node. */
static bool number_calls(struct search *s, const struct paths *p)
{
	for (size_t i = 0; i < p->side->profile->node_count; i++) {
		const uint32_t key[2] = { row_at(s, p, p->caller[i]), p->row[i] };
		bool added;

		p->number[i] = PRF_NONE;
		if (p->row[i] == PRF_NONE)
			continue;
		p->number[i] = map_number(&s->call_ids, key, sizeof(key), (uint32_t)s->call_count,
					  &added);
		if (p->number[i] == UINT32_MAX ||
		    !array_reserve(&s->calls, &s->call_capacity, s->call_count + 1))
			return false;
		if (added)
			s->calls[s->call_count++] = (struct call){ key[0], key[1] };
	}
	return true;
}

/* Numbers the ways to each node, once it is known which rows are on one side only. */
static bool number_ways(struct search *s, const struct paths *p)
{
	for (size_t i = 0; i < p->side->profile->node_count; i++) {
		uint32_t through = p->caller[i], key[3];
		bool added;

		p->number[i] = PRF_NONE;
		if (p->row[i] == PRF_NONE || through == PRF_NONE || through != p->beyond[i] ||
		    !is_on_one_side(s, p->row[through]))
			continue;
		key[0] = row_at(s, p, p->beyond[through]);
		key[1] = p->row[through];
		key[2] = p->row[i];
		p->number[i] = map_number(&s->way_ids, key, sizeof(key), (uint32_t)s->way_count,
					  &added);
		if (p->number[i] == UINT32_MAX ||
		    !array_reserve(&s->ways, &s->way_capacity, s->way_count + 1))
			return false;
		if (added)
			s->ways[s->way_count++] = (struct way){ key[0], key[1], key[2] };
	}
	return true;
}

static bool is_evidence(const struct search *s, uint32_t call, uint32_t row, int side)
{
	uint64_t samples = s->call_samples[side][call];

	return samples && samples * EVIDENCE_PARTS >= s->rows[side][row].samples;
}

/* Whether this side alone has a row, with samples enough, that is a function. */
static bool is_only_on(const struct search *s, uint32_t row, int side)
{
	const struct presence *here = &s->rows[side][row];

	return !is_there(s, row, !side) && here->samples >= LINEAGE_SAMPLES && !here->unnamed;
}

/* By which row an index has a call; PRF_NONE: it has it not. */
static uint32_t place_in_index(const struct search *s, enum index_kind kind, uint32_t call)
{
	uint32_t from = s->calls[call].from, to = s->calls[call].to,
		 row = kind == CALLERS ? to : from;

	if (kind == ONLY_BEFORE || kind == ONLY_NOW)
		return is_only_on(s, to, kind == ONLY_NOW) ? from : PRF_NONE;
	return is_evidence(s, call, row, 0) || is_evidence(s, call, row, 1) ? row : PRF_NONE;
}

static bool make_index(struct search *s, enum index_kind kind)
{
	struct index *index = &s->indexes[kind];
	uint32_t *next = calloc(s->n + 2, sizeof(*next));

	index->calls = calloc(s->call_count + 1, sizeof(*index->calls));
	index->starts = calloc(s->n + 2, sizeof(*index->starts));
	if (!next || !index->calls || !index->starts) {
		free(next);
		return false;
	}
	for (uint32_t i = 0; i < s->call_count; i++) {
		uint32_t row = place_in_index(s, kind, i);

		if (row != PRF_NONE)
			index->starts[row + 1]++;
	}
	for (size_t i = 0; i <= s->n; i++)
		index->starts[i + 1] += index->starts[i];
	memcpy(next, index->starts, (s->n + 2) * sizeof(*next));
	for (uint32_t i = 0; i < s->call_count; i++) {
		uint32_t row = place_in_index(s, kind, i);

		if (row != PRF_NONE)
			index->calls[next[row]++] = i;
	}
	free(next);
	return true;
}

static bool make_indexes(struct search *s)
{
	bool ok = true;

	for (int kind = 0; ok && kind < INDEXES; kind++)
		ok = make_index(s, (enum index_kind)kind);
	return ok;
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

static bool in_one_object(const struct search *s, uint32_t before, uint32_t now)
{
	return !s->rows[0][before].several_objects && !s->rows[1][now].several_objects;
}

static bool add_objects(struct search *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (is_there(s, i, 0) && is_there(s, i, 1) && in_one_object(s, i, i) &&
		    (!objects_key(s, i, i) ||
		     !map_put(&s->objects, s->key.data, s->key.size, NULL)))
			return false;
	return true;
}

/* Numbers the calls or the ways of both sides; `sums` gets the samples of each number on a side. */
static bool read_numbers(struct search *s, const struct paths paths[2],
			 bool (*number)(struct search *, const struct paths *), const size_t *count,
			 uint64_t *sums[2])
{
	bool ok = number(s, &paths[0]) && number(s, &paths[1]);

	for (int side = 0; ok && side < 2; side++) {
		sums[side] = sums_of(&paths[side], paths[side].number, *count);
		ok = sums[side];
	}
	return ok;
}

static struct error *read_sides(struct search *s, const struct lineage_side sides[2])
{
	struct paths paths[2] = { { 0 }, { 0 } };
	bool ok = true;

	for (int side = 0; ok && side < 2; side++) {
		s->rows[side] = calloc(s->n + 1, sizeof(*s->rows[side]));
		ok = s->rows[side] && paths_init(&paths[side], &sides[side]) &&
		     add_presence(s, &paths[side], side);
	}
	ok = ok && read_numbers(s, paths, number_calls, &s->call_count, s->call_samples) &&
	     read_numbers(s, paths, number_ways, &s->way_count, s->way_samples) && add_objects(s) &&
	     make_indexes(s);
	for (int side = 0; side < 2; side++)
		paths_release(&paths[side]);
	return ok ? NULL : error_memory();
}

/* -------- renamed -------- */

/* Whether this side alone has a row, a function of which nothing more is known yet. */
static bool has_only(const struct search *s, uint32_t row, int side)
{
	return is_only_on(s, row, side) && s->list[row].kind == LINEAGE_NONE;
}

/* What a row is called on the other side, as far as is known. */
static uint32_t on_other_side(const struct search *s, uint32_t row)
{
	return row < s->n && s->list[row].kind == LINEAGE_RENAMED ? s->list[row].other : row;
}

/*
 * Whether it says something of a row that it calls another one, or is called by it: what stands for
 * an object has many functions, and the kernel is entered from all others.
 */
static bool counts(const struct search *s, uint32_t row, uint32_t other, int side)
{
	const struct presence *rows = s->rows[side];

	return other != row && other != s->n && !rows[other].unnamed &&
	       (rows[row].kernel || !rows[other].kernel);
}

/*
 * Whether the other side has each caller (or called row) of `row` that is evidence, as one of
 * `other`. `count` gets how many count.
 */
static bool neighbours_agree(const struct search *s, uint32_t row, uint32_t other, int side,
			     enum index_kind kind, size_t *count)
{
	const struct index *index = &s->indexes[kind];

	*count = 0;
	for (uint32_t i = index->starts[row]; i < index->starts[row + 1]; i++) {
		const struct call *call = &s->calls[index->calls[i]];
		uint32_t neighbour = kind == CALLERS ? call->from : call->to, there, theirs;

		if (!is_evidence(s, index->calls[i], row, side))
			continue;
		/* Recursion stays recursion. */
		there = neighbour == row ? other : on_other_side(s, neighbour);
		theirs = kind == CALLERS ? find_call(s, there, other) : find_call(s, other, there);
		if (theirs == PRF_NONE || !s->call_samples[!side][theirs])
			return false;
		*count += counts(s, row, neighbour, side);
	}
	return true;
}

/* Files of the same name are the same object, and two that have a function in common. */
static bool same_object(struct search *s, uint32_t before, uint32_t now)
{
	if (!in_one_object(s, before, now))
		return false;
	if (!strcmp(s->rows[0][before].object, s->rows[1][now].object))
		return true;
	return objects_key(s, before, now) && map_get(&s->objects, s->key.data, s->key.size);
}

static bool names_agree(const struct search *s, uint32_t before, uint32_t now)
{
	bool mangled = s->rows[0][before].mangled;

	return mangled == s->rows[1][now].mangled &&
	       stems_agree(s->names[before], s->names[now], mangled);
}

enum evidence { BY_NAME, BY_CALLS };

static bool is_match(struct search *s, uint32_t before, uint32_t now, enum evidence evidence)
{
	size_t callers, called, n;

	if (!neighbours_agree(s, before, now, 0, CALLERS, &callers) || !callers ||
	    !neighbours_agree(s, now, before, 1, CALLERS, &n) || !n)
		return false;
	if (evidence == BY_NAME)
		return names_agree(s, before, now) && same_object(s, before, now);
	return neighbours_agree(s, before, now, 0, CALLED, &called) &&
	       neighbours_agree(s, now, before, 1, CALLED, &n) && called && n &&
	       callers + called >= 3 && same_object(s, before, now);
}

/* The caller of most of a row's samples; the row itself: it has no caller that is known. */
static uint32_t main_caller(const struct search *s, uint32_t row, int side)
{
	const struct index *callers = &s->indexes[CALLERS];
	uint32_t caller = row;
	uint64_t most = 0;

	for (uint32_t i = callers->starts[row]; i < callers->starts[row + 1]; i++) {
		uint32_t call = callers->calls[i];

		if (s->calls[call].from == row || s->call_samples[side][call] <= most)
			continue;
		caller = s->calls[call].from;
		most = s->call_samples[side][call];
	}
	return caller;
}

/* The only row of the other side that matches; PRF_NONE: there is none, or several. */
static uint32_t only_match(struct search *s, uint32_t row, int side, enum evidence evidence)
{
	const struct index *candidates = &s->indexes[side ? ONLY_BEFORE : ONLY_NOW];
	uint32_t caller = on_other_side(s, main_caller(s, row, side)), found = PRF_NONE;

	if (candidates->starts[caller + 1] - candidates->starts[caller] > CANDIDATES_MAX)
		return PRF_NONE;
	for (uint32_t i = candidates->starts[caller]; i < candidates->starts[caller + 1]; i++) {
		uint32_t other = s->calls[candidates->calls[i]].to;

		if (!has_only(s, other, !side) ||
		    !is_match(s, side ? other : row, side ? row : other, evidence))
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

	s->progress.size += s->n;
	for (uint32_t row = 0; row < s->n && !progress_interrupted(); row++) {
		uint32_t other;

		progress_show(&s->progress, row + 1);
		if (!has_only(s, row, 0))
			continue;
		other = only_match(s, row, 0, evidence);
		if (other == PRF_NONE || only_match(s, other, 1, evidence) != row)
			continue;
		s->list[row] = (struct lineage){ LINEAGE_RENAMED, other };
		s->list[other] = (struct lineage){ LINEAGE_RENAMED, row };
		found = true;
	}
	s->progress.read += s->n;
	return found;
}

/* -------- inlined -------- */

static enum lineage_kind inlined_on(int side)
{
	return side ? LINEAGE_INLINED : LINEAGE_CALLED;
}

/* The only caller of a row that is evidence; PRF_NONE: there are several, or it says nothing. */
static uint32_t only_caller(const struct search *s, uint32_t row, int side)
{
	const struct index *callers = &s->indexes[CALLERS];
	uint32_t found = PRF_NONE;

	for (uint32_t i = callers->starts[row]; i < callers->starts[row + 1]; i++) {
		uint32_t call = callers->calls[i];

		if (!is_evidence(s, call, row, side))
			continue;
		if (found != PRF_NONE || !counts(s, row, s->calls[call].from, side))
			return PRF_NONE;
		found = s->calls[call].from;
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

			if (here->samples >= LINEAGE_SAMPLES && !here->apart &&
			    there->samples >= LINEAGE_SAMPLES && !there->inlined)
				s->list[row] = (struct lineage){ inlined_on(side),
								 only_caller(s, row, side) };
		}
}

/*
 * Whether what was called through a row is now called directly, as it was not before, where it
 * would not be seen if the row is inlined.
 */
static bool is_taken_over(const struct search *s, uint32_t number, int side)
{
	const struct way *way = &s->ways[number];
	uint32_t call = find_call(s, way->caller, way->called);

	if (call == PRF_NONE || s->call_samples[side][call] || way->caller == way->called ||
	    !counts(s, way->row, way->caller, side) || s->rows[!side][way->caller].in_inlining)
		return false;
	return (double)s->call_samples[!side][call] * TAKEN_OVER_PARTS * s->totals[side] >=
	       (double)s->way_samples[side][number] * s->totals[!side];
}

/* Of the ways through a row: none that counts is known, all are taken over, or one is not. */
enum ways { WAYS_UNKNOWN, WAYS_TAKEN_OVER, WAYS_KEPT };

/* Without debug information a function of one side is gone with its name; its calls show where. */
static struct error *find_unseen_inlined(struct search *s)
{
	enum ways *ways = calloc(s->n + 1, sizeof(*ways));

	if (!ways)
		return error_memory();
	for (uint32_t i = 0; i < s->way_count; i++) {
		const struct way *way = &s->ways[i];
		int side = !is_there(s, way->row, 0);

		if (s->way_samples[side][i] * EVIDENCE_PARTS < s->rows[side][way->row].samples)
			continue;
		if (!is_taken_over(s, i, side))
			ways[way->row] = WAYS_KEPT;
		else if (ways[way->row] == WAYS_UNKNOWN && counts(s, way->row, way->called, side))
			ways[way->row] = WAYS_TAKEN_OVER;
	}
	for (uint32_t row = 0; row < s->n; row++) {
		int side = !is_there(s, row, 0);

		/* Runtimes of scripts inline nothing. */
		if (ways[row] == WAYS_TAKEN_OVER && has_only(s, row, side) &&
		    !s->rows[side][row].script)
			s->list[row] = (struct lineage){ inlined_on(!side),
							 only_caller(s, row, side) };
	}
	free(ways);
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
	progress_begin(&s.progress, "looking for renamed functions");
	error = read_sides(&s, sides);
	if (!error) {
		for (int pass = 0; pass < PASSES_MAX; pass++)
			if (!find_renamed(&s, BY_NAME) && !find_renamed(&s, BY_CALLS))
				break;
		progress_end(&s.progress);
		find_seen_inlined(&s);
		error = find_unseen_inlined(&s);
	}
	release(&s);
	return error;
}
