/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbols/symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/array.h"
#include "common/buffer.h"
#include "common/fuzzing.h"
#include "common/map.h"
#include "common/shortage.h"
#include "report/output/parallel.h"
#include "report/symbols/debuginfod.h"
#include "report/symbols/demangle.h"
#include "report/symbols/name_cache.h"
#include "report/symbols/object_lookup.h"

struct query {
	uint32_t object;
	bool exact, embedded;
	uint64_t offset;
	uint32_t place;	 /* index of the answer within the object */
	uint32_t places; /* how many */
	const struct symbolizer_place *answer;
};

struct object {
	struct prf_object recorded;
	struct prf_symbol *symbols;
	size_t symbol_count, symbol_capacity;
	/*
	 * The first object with this build-id, which may be this one: all queries of equal
	 * build-ids go to it.
	 */
	struct object *first;
	const struct prf_object **copies; /* the other objects with its build-id, as recorded */
	size_t copy_count, copy_capacity;
	uint32_t *queries; /* to be looked up */
	size_t query_count, query_capacity;
	size_t asked, named;
	uint64_t *offsets;
	struct object_lookup *lookup; /* of objects with something to look up only: it is large */
	struct name_cache cache;
	bool cached;  /* all answers are in it */
	int shortage; /* an errno: why its answers may lack something; 0: they do not */
};

struct symbolizer {
	struct symbolizer_options options;
	struct debug_search search;
	struct object **objects;
	size_t object_count, object_capacity;
	struct query *queries;
	size_t query_count, query_capacity;
	struct arena arena;   /* of objects and their symbols */
	struct map symbols;   /* all that were added: object, place and name */
	struct arena answers; /* of all that symbolizer_forget() forgets */
	struct arena workers[PARALLEL_THREADS_MAX];
	unsigned int threads;
	int failed;		       /* a job ran out of memory */
	bool stored;		       /* answers were written to the cache */
	const struct object *short_of; /* whose `shortage` was noted first; NULL: nobody's */
};

struct error *symbolizer_new(struct symbolizer **symbolizer,
			     const struct symbolizer_options *options)
{
	struct symbolizer *s = calloc(1, sizeof(*s));

	*symbolizer = s;
	if (!s)
		return error_memory();
	s->options = *options;
	s->search = (struct debug_search){ options->sysroot, options->debug_directories };
	s->threads = parallel_threads(options->jobs);
	return NULL;
}

/* All but what was added: the object as recorded, and its symbols. */
static void forget_found(struct object *o)
{
	if (o->lookup)
		object_lookup_release(o->lookup);
	free(o->lookup);
	name_cache_release(&o->cache);
	free(o->copies);
	free(o->queries);
	free(o->offsets);
	*o = (struct object){ .recorded = o->recorded,
			      .symbols = o->symbols,
			      .symbol_count = o->symbol_count,
			      .symbol_capacity = o->symbol_capacity };
}

void symbolizer_forget(struct symbolizer *s)
{
	for (size_t i = 0; i < s->object_count; i++)
		forget_found(s->objects[i]);
	for (unsigned int i = 0; i < PARALLEL_THREADS_MAX; i++)
		arena_release(&s->workers[i]);
	arena_release(&s->answers);
	s->query_count = 0;
	s->stored = false;
	s->short_of = NULL;
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	symbolizer_forget(s);
	for (size_t i = 0; i < s->object_count; i++) {
		free(s->objects[i]->symbols);
		free(s->objects[i]);
	}
	arena_release(&s->arena);
	map_release(&s->symbols);
	free(s->objects);
	free(s->queries);
	free(s);
}

static const char *copy_text(struct arena *arena, const char *text)
{
	return *text ? arena_text(arena, text, strlen(text)) : "";
}

struct error *symbolizer_add_object(struct symbolizer *s, const struct prf_object *recorded,
				    uint32_t *id)
{
	struct object *o;

	if (!array_reserve(&s->objects, &s->object_capacity, s->object_count + 1))
		return error_memory();
	o = calloc(1, sizeof(*o));
	if (!o)
		return error_memory();
	o->recorded = *recorded;
	o->recorded.path = copy_text(&s->arena, recorded->path);
	o->recorded.root = copy_text(&s->arena, recorded->root);
	if (!o->recorded.path || !o->recorded.root) {
		free(o);
		return error_memory();
	}
	*id = (uint32_t)s->object_count;
	s->objects[s->object_count++] = o;
	return NULL;
}

size_t symbolizer_objects(const struct symbolizer *s)
{
	return s->object_count;
}

const struct prf_object *symbolizer_object(const struct symbolizer *s, uint32_t id)
{
	return &s->objects[id]->recorded;
}

/* Whether an object has such a symbol already; it has from now on. False in `ok`: no memory. */
static bool has_symbol(struct symbolizer *s, uint32_t object, const struct prf_symbol *symbol,
		       bool *ok)
{
	struct buffer key = { 0 };
	bool added = false;

	buffer_u32(&key, object);
	buffer_u64(&key, symbol->start);
	buffer_u64(&key, symbol->size);
	buffer_append(&key, symbol->name, strlen(symbol->name));
	*ok = buffer_ok(&key) && map_put(&s->symbols, key.data, key.size, &added);
	buffer_release(&key);
	return !added;
}

static bool add_symbol(struct symbolizer *s, struct object *o, const struct prf_symbol *symbol)
{
	const char *name = copy_text(&s->arena, symbol->name);

	if (!name || !array_reserve(&o->symbols, &o->symbol_capacity, o->symbol_count + 1))
		return false;
	o->symbols[o->symbol_count] = *symbol;
	o->symbols[o->symbol_count++].name = name;
	return true;
}

struct error *symbolizer_add_symbols(struct symbolizer *s, uint32_t object,
				     const struct prf_symbol *symbols, size_t n)
{
	bool ok = true;

	if (object >= s->object_count)
		return error_new(ERROR_ARGUMENT, "there is no object %u", object);
	for (size_t i = 0; ok && i < n; i++)
		if (!has_symbol(s, object, &symbols[i], &ok))
			ok = add_symbol(s, s->objects[object], &symbols[i]);
	return ok ? NULL : error_memory();
}

struct error *symbolizer_add_query(struct symbolizer *s, uint32_t object, uint64_t offset,
				   bool exact, uint32_t *query)
{
	if (!array_reserve(&s->queries, &s->query_capacity, s->query_count + 1))
		return error_memory();
	if (object >= s->object_count || s->query_count >= UINT32_MAX)
		return error_new(ERROR_ARGUMENT, "there is no object %u", object);
	*query = (uint32_t)s->query_count;
	s->queries[s->query_count++] =
		(struct query){ .object = object, .offset = offset, .exact = exact };
	return NULL;
}

struct error *symbolizer_add_names(struct symbolizer *s, uint32_t query,
				   const struct prf_place *places, size_t n)
{
	struct symbolizer_place *copies;

	if (query >= s->query_count || n > UINT32_MAX)
		return error_new(ERROR_ARGUMENT, "there is no query %u", query);
	copies = arena_take(&s->answers, (n ? n : 1) * sizeof(*copies));
	if (!copies)
		return error_memory();
	for (size_t i = 0; i < n; i++) {
		copies[i] = (struct symbolizer_place){
			.function = copy_text(&s->answers, places[i].function),
			.file = copy_text(&s->answers, places[i].file),
			.line = places[i].line,
			.start_line = places[i].start_line
		};
		if (!copies[i].function || !copies[i].file)
			return error_memory();
	}
	s->queries[query].embedded = true;
	s->queries[query].answer = copies;
	s->queries[query].places = (uint32_t)n;
	return NULL;
}

/* -------- gathering -------- */

/* A return address belongs to the call before it. */
static uint64_t looked_up(const struct query *q)
{
	return q->exact || !q->offset ? q->offset : q->offset - 1;
}

/* Adds `o` to the copies of the first object with its build-id, unless it is the first itself. */
static struct error *find_first(struct map *by_build_id, struct object *o)
{
	struct object *first;
	bool added;
	uint64_t *known = map_put(by_build_id, o->recorded.build_id, o->recorded.build_id_size,
				  &added);

	if (!known)
		return error_memory();
	if (added) {
		*known = (uintptr_t)o;
		return NULL;
	}
	first = (struct object *)(uintptr_t)*known;
	if (!array_reserve(&first->copies, &first->copy_capacity, first->copy_count + 1))
		return error_memory();
	first->copies[first->copy_count++] = &o->recorded;
	o->first = first;
	return NULL;
}

/*
 * A library that is in many containers is one file all the same. Where the trace holds symbols
 * for an object, they are for this one only.
 */
static struct error *find_copies(struct symbolizer *s)
{
	struct map by_build_id = { 0 };
	struct error *error = NULL;

	for (size_t i = 0; !error && i < s->object_count; i++) {
		struct object *o = s->objects[i];

		o->first = o;
		if (o->recorded.kind == PRF_OBJECT_FILE && o->recorded.build_id_size &&
		    !o->symbol_count)
			error = find_first(&by_build_id, o);
	}
	map_release(&by_build_id);
	return error;
}

static struct error *gather(struct symbolizer *s)
{
	struct error *error = find_copies(s);

	if (error)
		return error;
	for (size_t i = 0; i < s->query_count; i++) {
		struct object *o = s->objects[s->queries[i].object];

		o->asked++;
		if (s->queries[i].embedded)
			continue;
		o = o->first;
		if (!array_reserve(&o->queries, &o->query_capacity, o->query_count + 1))
			return error_memory();
		o->queries[o->query_count++] = (uint32_t)i;
	}
	return NULL;
}

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/*
 * Of those that begin at one place the last one gives the name: the largest, and of these the last
 * in the alphabet, as '_' comes before small letters.
 */
static int by_start(const void *left, const void *right)
{
	const struct prf_symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* The offsets to look up, sorted, each once; and which of them answers which query. */
static int sort_offsets(struct symbolizer *s, struct object *o)
{
	struct object_lookup *l = o->lookup;
	size_t n = 0;

	o->offsets = calloc(o->query_count ? o->query_count : 1, sizeof(*o->offsets));
	if (!o->offsets)
		return -1;
	for (size_t i = 0; i < o->query_count; i++)
		o->offsets[i] = looked_up(&s->queries[o->queries[i]]);
	qsort(o->offsets, o->query_count, sizeof(*o->offsets), by_number);
	for (size_t i = 0; i < o->query_count; i++)
		if (!n || o->offsets[n - 1] != o->offsets[i])
			o->offsets[n++] = o->offsets[i];
	for (size_t i = 0; i < o->query_count; i++) {
		struct query *q = &s->queries[o->queries[i]];
		uint64_t offset = looked_up(q);
		const uint64_t *found = bsearch(&offset, o->offsets, n, sizeof(offset), by_number);

		q->place = (uint32_t)(found - o->offsets);
	}
	if (o->symbol_count)
		qsort(o->symbols, o->symbol_count, sizeof(*o->symbols), by_start);
	l->object = &o->recorded;
	l->copies = o->copies;
	l->copy_count = o->copy_count;
	l->symbols = o->symbols;
	l->symbol_count = o->symbol_count;
	l->offsets = o->offsets;
	l->n = n;
	l->search = &s->search;
	l->inlines = s->options.inlines;
	l->lines = s->options.lines;
	return 0;
}

/* -------- running -------- */

/* Objects with something to look up, most first; and their units, most addresses first. */
struct unit_job {
	struct object *object;
	size_t run;
	uint32_t weight;
};

struct plan {
	struct symbolizer *symbolizer;
	struct object **objects;
	size_t n;
	struct unit_job *units;
	size_t unit_count;
	/* The step that is run: */
	const char *what;
	parallel_job *job;
	size_t jobs, done;
};

static void take_shortage(struct symbolizer *s, struct object *o)
{
	const struct object *nobody = NULL;
	int os_error = shortage_take();

	if (!os_error)
		return;
	__atomic_store_n(&o->shortage, os_error, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(&s->short_of, &nobody, o, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

/* What a job came to. */
static void note(struct plan *p, struct object *o, int result)
{
	if (result)
		__atomic_store_n(&p->symbolizer->failed, 1, __ATOMIC_RELAXED);
	take_shortage(p->symbolizer, o);
}

static void look_into_cache(struct object *o)
{
	struct name_cache_key key;

	if (!object_lookup_key(o->lookup, &key) || !name_cache_open(&o->cache, &key))
		return;
	o->cached = true;
	for (size_t i = 0; o->cached && i < o->lookup->n; i++)
		o->cached = name_cache_find(&o->cache, o->offsets[i]) != UINT32_MAX;
}

static void open_job(size_t job, unsigned int worker, void *context)
{
	struct plan *p = context;
	struct object *o = p->objects[job];

	note(p, o, sort_offsets(p->symbolizer, o) || object_lookup_open(o->lookup));
	if (p->symbolizer->failed)
		return;
	/* The answers in the cache were found without the debug file that a server may have. */
	if (p->symbolizer->options.debuginfod && object_lookup_wants_debug(o->lookup))
		return;
	if (p->symbolizer->options.cache)
		look_into_cache(o);
}

static void names_job(size_t job, unsigned int worker, void *context)
{
	struct plan *p = context;
	struct object *o = p->objects[job / 2];
	struct object_lookup *l = o->lookup;

	if (o->cached)
		return;
	note(p, o, job % 2 ? object_lookup_symbols(l) : object_lookup_units(l));
}

static void unit_job(size_t job, unsigned int worker, void *context)
{
	struct plan *p = context;
	struct unit_job *u = &p->units[job];

	note(p, u->object,
	     object_lookup_unit(u->object->lookup, u->run, &p->symbolizer->workers[worker]));
}

static int by_weight(const void *left, const void *right)
{
	const struct unit_job *a = left, *b = right;

	return (a->weight < b->weight) - (a->weight > b->weight);
}

static int by_queries(const void *left, const void *right)
{
	const struct object *a = *(struct object *const *)left, *b = *(struct object *const *)right;

	return (a->query_count < b->query_count) - (a->query_count > b->query_count);
}

static int plan_objects(struct plan *p)
{
	struct symbolizer *s = p->symbolizer;

	p->objects = calloc(s->object_count ? s->object_count : 1, sizeof(*p->objects));
	if (!p->objects)
		return -1;
	for (size_t i = 0; i < s->object_count; i++) {
		struct object *o = s->objects[i];

		if (!o->query_count)
			continue;
		o->lookup = calloc(1, sizeof(*o->lookup));
		if (!o->lookup)
			return -1;
		p->objects[p->n++] = o;
	}
	qsort(p->objects, p->n, sizeof(*p->objects), by_queries);
	return 0;
}

static int plan_units(struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->objects[i]->lookup->run_count;
	p->units = calloc(n ? n : 1, sizeof(*p->units));
	if (!p->units)
		return -1;
	for (size_t i = 0; i < p->n; i++) {
		struct object_lookup *l = p->objects[i]->lookup;

		for (size_t run = 0; run < l->run_count; run++)
			p->units[p->unit_count++] = (struct unit_job){ p->objects[i], run,
								       l->runs[run].n };
	}
	qsort(p->units, p->unit_count, sizeof(*p->units), by_weight);
	return 0;
}

/* One after the other, those with the most queries first: the user may interrupt. */
static int download(struct plan *p)
{
	struct symbolizer *s = p->symbolizer;
	struct debuginfod *client = s->options.debuginfod
					    ? debuginfod_new(s->options.progress,
							     s->options.progress_context)
					    : NULL;
	int result = 0;

	for (size_t i = 0; client && !result && i < p->n; i++) {
		struct object *o = p->objects[i];
		char *path = NULL;

		if (o->cached)
			continue;
		if (object_lookup_wants_main(o->lookup))
			path = debuginfod_executable(client, &o->recorded);
		if (path)
			result = object_lookup_add_main(o->lookup, path);
		free(path);
		path = NULL;
		if (!result && object_lookup_wants_debug(o->lookup))
			path = debuginfod_debug_file(client, &o->recorded);
		if (path)
			object_lookup_add_debug(o->lookup, path);
		free(path);
		take_shortage(s, o);
	}
	debuginfod_free(client);
	return result;
}

static void say_step(const struct plan *p, const char *what, size_t done)
{
	const struct symbolizer_options *o = &p->symbolizer->options;

	if (o->step)
		o->step(what, done, p->jobs, o->progress_context);
}

static void step_job(size_t job, unsigned int worker, void *context)
{
	struct plan *p = context;

	p->job(job, worker, p);
	say_step(p, p->what, __atomic_add_fetch(&p->done, 1, __ATOMIC_RELAXED));
}

static int run_step(struct plan *p, const char *what, size_t jobs, parallel_job *job)
{
	p->what = what;
	p->job = job;
	p->jobs = jobs;
	p->done = 0;
	say_step(p, what, 0);
	parallel_run(jobs, p->symbolizer->threads, step_job, p);
	return p->symbolizer->failed ? -1 : 0;
}

static int run_steps(struct plan *p)
{
	if (plan_objects(p) || run_step(p, "files", p->n, open_job))
		return -1;
	/* That says itself what it does. */
	say_step(p, NULL, 0);
	if (download(p) || run_step(p, "tables", 2 * p->n, names_job) || plan_units(p))
		return -1;
	return run_step(p, "inlined functions and lines", p->unit_count, unit_job);
}

static int run_plan(struct plan *p)
{
	int result = run_steps(p);

	say_step(p, NULL, 0);
	return result;
}

/* -------- answers -------- */

/* Names as shown, by the address of the linkage name's text: most texts are in memory once. */
struct shown_names {
	struct {
		const char *function, *name;
	} * slots;
	size_t mask, used;
};

/* A fuzzer's inputs have few: a larger table would take longer to make than to fill. */
#define FIRST_SHOWN (FUZZING ? 16 : 1024)

static int grow_shown(struct shown_names *t)
{
	struct shown_names bigger = { .mask = t->mask ? 2 * t->mask + 1 : FIRST_SHOWN - 1 };

	bigger.slots = calloc(bigger.mask + 1, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	for (size_t i = 0; t->slots && i <= t->mask; i++) {
		size_t k = ((uintptr_t)t->slots[i].function * UINT64_C(0x9e3779b97f4a7c15)) >> 20;

		if (!t->slots[i].function)
			continue;
		while (bigger.slots[k & bigger.mask].function)
			k++;
		bigger.slots[k & bigger.mask] = t->slots[i];
	}
	bigger.used = t->used;
	free(t->slots);
	*t = bigger;
	return 0;
}

static const char *shown_name(struct symbolizer *s, struct shown_names *t, const char *function)
{
	size_t k = ((uintptr_t)function * UINT64_C(0x9e3779b97f4a7c15)) >> 20;

	if (!s->options.demangle || !*function)
		return function;
	if (2 * t->used >= t->mask && grow_shown(t)) {
		shortage_note(ENOMEM);
		return function;
	}
	for (;; k++) {
		size_t i = k & t->mask;

		if (t->slots[i].function == function)
			return t->slots[i].name;
		if (t->slots[i].function)
			continue;
		t->used++;
		t->slots[i].function = function;
		t->slots[i].name = demangle(function, s->options.full_names, &s->answers);
		return t->slots[i].name;
	}
}

/* The places of one offset. The symbol table's name for the outermost one comes first. */
static int answer_offset(struct symbolizer *s, const char *name, const struct dwarf_answer *a,
			 struct query *q)
{
	size_t n = a ? a->n : name ? 1 : 0;
	struct symbolizer_place *places = n ? arena_take(&s->answers, n * sizeof(*places)) : NULL;

	q->answer = places;
	q->places = 0;
	if (n && !places)
		return -1;
	q->places = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		places[i] = (struct symbolizer_place){ .function = "", .file = "" };
		if (!a)
			continue;
		places[i].function = a->places[i].function;
		places[i].file = a->places[i].file;
		places[i].line = a->places[i].line;
		places[i].start_line = a->places[i].start_line;
	}
	/* "[file+0x1234]", from an unwind table, does not replace a name from DWARF. */
	if (n && name && (*name != '[' || !*places[n - 1].function))
		places[n - 1].function = name;
	return 0;
}

static int answer_from_cache(struct symbolizer *s, const struct name_cache *c, uint64_t offset,
			     struct query *q)
{
	uint32_t found = name_cache_find(c, offset), n = name_cache_places(c, found);
	struct symbolizer_place *places = n ? arena_take(&s->answers, n * sizeof(*places)) : NULL;

	if (n && !places)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		places[i] = name_cache_place(c, found, i);
	q->answer = places;
	q->places = n;
	return 0;
}

/* For the next run, which may want other forms of names: answers are kept with linkage names. */
static bool keep_answers(const struct object *o, const struct query *answers)
{
	struct name_cache_answer *kept;
	struct name_cache_key key;

	if (o->cached || o->shortage || object_lookup_lacks_alternate(o->lookup) ||
	    !object_lookup_key(o->lookup, &key))
		return false;
	kept = calloc(o->lookup->n ? o->lookup->n : 1, sizeof(*kept));
	for (size_t i = 0; kept && i < o->lookup->n; i++)
		kept[i] = (struct name_cache_answer){ o->offsets[i], answers[i].answer,
						      answers[i].places };
	if (kept)
		name_cache_store(&key, &o->cache, kept, o->lookup->n);
	free(kept);
	return true;
}

static int answer_object(struct symbolizer *s, struct object *o)
{
	struct query *answers = calloc(o->lookup->n ? o->lookup->n : 1, sizeof(*answers));
	int result = answers ? 0 : -1;

	for (size_t i = 0; !result && i < o->lookup->n; i++) {
		const struct dwarf_answer *a;
		const char *name;

		if (o->cached) {
			result = answer_from_cache(s, &o->cache, o->offsets[i], &answers[i]);
			continue;
		}
		object_lookup_answer(o->lookup, i, &name, &a);
		result = answer_offset(s, name, a, &answers[i]);
	}
	if (!result && s->options.cache && keep_answers(o, answers))
		s->stored = true;
	for (size_t i = 0; !result && i < o->query_count; i++) {
		struct query *q = &s->queries[o->queries[i]];

		q->answer = answers[q->place].answer;
		q->places = answers[q->place].places;
	}
	free(answers);
	return result;
}

static void finish_query(struct symbolizer *s, struct query *q, struct shown_names *shown)
{
	struct symbolizer_place *places = (struct symbolizer_place *)q->answer;

	/* Embedded names have inlined functions, also when they are not wanted now. */
	if (q->embedded && q->places > 1 && !s->options.inlines) {
		struct symbolizer_place *function = &places[q->places - 1];

		function->file = places[0].file;
		function->line = places[0].line;
		q->answer = places = function;
		q->places = 1;
	}
	/* Names of script functions are not mangled: they are shown unchanged. */
	for (uint32_t i = 0; i < q->places && !places[i].name; i++)
		places[i].name = s->objects[q->object]->recorded.kind == PRF_OBJECT_SCRIPT
					 ? places[i].function
					 : shown_name(s, shown, places[i].function);
	take_shortage(s, s->objects[q->object]);
	if (q->places && *places[q->places - 1].function)
		s->objects[q->object]->named++;
}

struct error *symbolizer_run(struct symbolizer *s)
{
	struct plan plan = { .symbolizer = s };
	struct shown_names shown = { 0 };
	struct error *error = gather(s);

	shortage_take();
	if (!error && run_plan(&plan))
		error = error_memory();
	for (size_t i = 0; !error && i < plan.n; i++)
		if (answer_object(s, plan.objects[i]))
			error = error_memory();
	for (size_t i = 0; !error && i < s->query_count; i++)
		finish_query(s, &s->queries[i], &shown);
	if (s->stored)
		name_cache_trim();
	free(shown.slots);
	free(plan.objects);
	free(plan.units);
	return error;
}

const struct symbolizer_place *symbolizer_places(const struct symbolizer *s, uint32_t query,
						 size_t *n)
{
	*n = query < s->query_count ? s->queries[query].places : 0;
	return *n ? s->queries[query].answer : NULL;
}

void symbolizer_shortage(const struct symbolizer *s, struct symbolizer_shortage *lacks)
{
	*lacks = (struct symbolizer_shortage){ .path = "" };
	if (!s->short_of)
		return;
	lacks->os_error = s->short_of->shortage;
	lacks->path = s->short_of->recorded.path;
	for (size_t i = 0; i < s->object_count; i++)
		lacks->objects += s->objects[i]->shortage != 0;
}

void symbolizer_found(const struct symbolizer *s, uint32_t object, struct symbols_found *found)
{
	const struct object *o = object < s->object_count ? s->objects[object] : NULL;
	const struct object_lookup *l;

	*found = (struct symbols_found){ .status = SYMBOLS_NOT_LOOKED,
					 .path = "",
					 .debug_path = "" };
	if (!o)
		return;
	found->queries = o->asked;
	found->named = o->named;
	l = o->first ? o->first->lookup : o->lookup;
	if (!l)
		return;
	found->status = o->shortage || (o->first && o->first->shortage) ? SYMBOLS_SHORT : l->status;
	if (l->main.path)
		found->path = l->main.path;
	if (l->debug.path)
		found->debug_path = l->debug.path;
	found->debug_info = l->has_dwarf;
}
