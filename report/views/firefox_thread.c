/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/firefox_thread.h"

#include "common/array.h"
#include "common/pairs.h"

#include <stdlib.h>
#include <string.h>

#define CELL_MAX 32 /* bytes of a number with its decimals and a comma */
#define CELLS_AT_ONCE 1024u

/* -------- numbers and strings of a thread -------- */

static bool numbering_init(struct numbering *n, size_t things)
{
	n->number = calloc(things + 1, sizeof(*n->number));
	n->list = calloc(things + 1, sizeof(*n->list));
	return n->number && n->list;
}

static void numbering_release(struct numbering *n)
{
	free(n->number);
	free(n->list);
}

static void numbering_add(struct numbering *n, uint32_t thing)
{
	if (n->number[thing])
		return;
	n->list[n->count++] = thing;
	n->number[thing] = n->count;
}

static void numbering_clear(struct numbering *n)
{
	while (n->count)
		n->number[n->list[--n->count]] = 0;
}

static uint64_t string_number(struct firefox *w, const char *text)
{
	bool added;
	uint64_t *entry = map_put(&w->strings, text, strlen(text), &added);

	if (!entry) {
		w->texts.failed = true;
		return 0;
	}
	if (added) {
		*entry = w->strings.count - 1;
		buffer_append(&w->texts, text, strlen(text) + 1);
	}
	return *entry;
}

/* -------- cells -------- */

static char *put_ms(char *at, uint64_t us)
{
	at = sink_digits(at, us / 1000);
	if (!(us % 1000))
		return at;
	*at++ = '.';
	*at++ = (char)('0' + us / 100 % 10);
	*at++ = (char)('0' + us / 10 % 10);
	*at++ = (char)('0' + us % 10);
	return at;
}

void firefox_ms(struct sink *s, uint64_t us)
{
	char text[CELL_MAX];

	sink_bytes(s, text, (size_t)(put_ms(text, us) - text));
}

/* -1, which says there is none, for what JSON readers cannot hold. */
static void write_address(struct sink *s, uint64_t address)
{
	if (address >> 53)
		sink_text(s, "-1");
	else
		sink_unsigned(s, address);
}

static void write_or_null(struct sink *s, uint64_t value, bool known)
{
	if (known)
		sink_unsigned(s, value);
	else
		sink_text(s, "null");
}

static void cell_zero(struct firefox *w, uint32_t i)
{
	sink_char(w->sink, '0');
}

static void cell_one(struct firefox *w, uint32_t i)
{
	sink_char(w->sink, '1');
}

static void cell_null(struct firefox *w, uint32_t i)
{
	sink_text(w->sink, "null");
}

static void cell_false(struct firefox *w, uint32_t i)
{
	sink_text(w->sink, "false");
}

/* A table is an object of columns: "name":{"length":2,"column":[1,2],...}. */
struct column {
	const char *name;
	void (*cell)(struct firefox *w, uint32_t i);
};

static void write_columns(struct firefox *w, const struct column *columns, size_t n)
{
	struct sink *s = w->sink;

	for (; columns->name; columns++) {
		sink_text(s, ",\"");
		sink_text(s, columns->name);
		sink_text(s, "\":[");
		for (uint32_t i = 0; i < n; i++) {
			if (i)
				sink_char(s, ',');
			columns->cell(w, i);
		}
		sink_char(s, ']');
	}
	sink_char(s, '}');
}

static void begin_table(struct firefox *w, const char *name, size_t n)
{
	sink_text(w->sink, ",\n\"");
	sink_text(w->sink, name);
	sink_text(w->sink, "\":{\"length\":");
	sink_unsigned(w->sink, n);
}

/* -------- samples -------- */

static const struct profile_part *nth_part(const struct firefox *w, uint32_t i)
{
	return &w->profile->parts[w->threads.parts[w->thread->first_part + i]];
}

static uint32_t nth_sample_node(const struct firefox *w, uint32_t i)
{
	return w->profile->entries[nth_part(w, i)->entry].node;
}

/* There may be millions: their columns are written many cells at a time. */
static char *put_stacks(struct firefox *w, uint32_t from, uint32_t to, char *at)
{
	for (uint32_t i = from; i < to; i++) {
		uint32_t node = nth_sample_node(w, i);

		if (node == PRF_NONE)
			at = mempcpy(at, "null", 4);
		else
			at = sink_digits(at, w->stacks.number[node] - 1);
		*at++ = ',';
	}
	return at;
}

static char *put_times(struct firefox *w, uint32_t from, uint32_t to, char *at)
{
	const struct profile_entry *entries = w->profile->entries;
	const struct profile_part *before = NULL;
	char text[CELL_MAX] = { 0 };
	size_t size = 0;

	for (uint32_t i = from; i < to; i++) {
		const struct profile_part *part = nth_part(w, i);

		/* All samples of a slice have the same time, so its text is made once. */
		if (!before || part->slice != before->slice ||
		    entries[part->entry].group != entries[before->entry].group) {
			char *end = put_ms(text, threads_time(w->profile, part) / 1000);

			*end++ = ',';
			size = (size_t)(end - text);
		}
		before = part;
		memcpy(at, text, CELL_MAX);
		at += size;
	}
	return at;
}

static char *put_weights(struct firefox *w, uint32_t from, uint32_t to, char *at)
{
	const bool ms = w->profile->value == PROFILE_TIME;

	for (uint32_t i = from; i < to; i++) {
		uint64_t value = nth_part(w, i)->value;

		at = ms ? put_ms(at, value) : sink_digits(at, value);
		*at++ = ',';
	}
	return at;
}

static void write_sample_column(struct firefox *w, const char *name,
				char *(*put)(struct firefox *, uint32_t, uint32_t, char *))
{
	const uint32_t n = (uint32_t)w->thread->part_count;
	struct sink *s = w->sink;

	sink_text(s, ",\"");
	sink_text(s, name);
	sink_text(s, "\":[");
	for (uint32_t from = 0, to; from < n; from = to) {
		char *room = (char *)sink_room(s, (CELLS_AT_ONCE + 1) * CELL_MAX), *end;

		if (!room)
			return;
		to = n - from < CELLS_AT_ONCE ? n : from + CELLS_AT_ONCE;
		end = put(w, from, to, room);
		/* No comma after the last one. */
		s->buffer.size = (size_t)((uint8_t *)end - s->buffer.data) - (to == n);
	}
	sink_char(s, ']');
}

static void write_samples(struct firefox *w)
{
	write_sample_column(w, "stack", put_stacks);
	write_sample_column(w, "time", put_times);
	write_sample_column(w, "weight", put_weights);
	sink_char(w->sink, '}');
}

/* -------- stacks -------- */

static const struct profile_node *nth_node(const struct firefox *w, uint32_t i)
{
	return &w->profile->nodes[w->stacks.list[i]];
}

static void write_category(struct sink *s, const struct profile_frame *frame)
{
	static const enum firefox_category categories[] = {
		[PROFILE_FRAME_USER] = FIREFOX_USER,	   [PROFILE_FRAME_KERNEL] = FIREFOX_KERNEL,
		[PROFILE_FRAME_JIT] = FIREFOX_JIT,	   [PROFILE_FRAME_END] = FIREFOX_OTHER,
		[PROFILE_FRAME_SEPARATOR] = FIREFOX_OTHER, [PROFILE_FRAME_GROUP] = FIREFOX_OTHER,
		[PROFILE_FRAME_SCRIPT] = FIREFOX_SCRIPT,
	};

	sink_unsigned(s, categories[frame->kind]);
}

static void stack_prefix(struct firefox *w, uint32_t i)
{
	uint32_t parent = nth_node(w, i)->parent;

	write_or_null(w->sink, parent == PRF_NONE ? 0 : w->stacks.number[parent] - 1,
		      parent != PRF_NONE);
}

static void stack_frame(struct firefox *w, uint32_t i)
{
	sink_unsigned(w->sink, w->frames.number[w->place_of[w->stacks.list[i]]] - 1);
}

static void stack_category(struct firefox *w, uint32_t i)
{
	write_category(w->sink, &w->profile->frames[nth_node(w, i)->frame]);
}

static const struct column stack_columns[] = {
	{ "prefix", stack_prefix },
	{ "frame", stack_frame },
	{ "category", stack_category },
	{ "subcategory", cell_zero },
	{ 0 },
};

/* -------- frames -------- */

static const struct firefox_place *nth_place(const struct firefox *w, uint32_t i)
{
	return &w->places[w->frames.list[i]];
}

static const struct profile_frame *nth_frame(const struct firefox *w, uint32_t i)
{
	return &w->profile->frames[nth_place(w, i)->frame];
}

static void frame_address(struct firefox *w, uint32_t i)
{
	const struct profile_frame *frame = &w->profile->frames[nth_place(w, i)->outer];

	write_address(w->sink, frame->object == PRF_NONE ? UINT64_MAX : frame->offset);
}

static void frame_depth(struct firefox *w, uint32_t i)
{
	sink_unsigned(w->sink, nth_place(w, i)->depth);
}

static void frame_category(struct firefox *w, uint32_t i)
{
	write_category(w->sink, nth_frame(w, i));
}

static void frame_func(struct firefox *w, uint32_t i)
{
	sink_unsigned(w->sink, w->calls.number[w->function_of[nth_place(w, i)->frame]] - 1);
}

static void frame_symbol(struct firefox *w, uint32_t i)
{
	uint32_t outer = nth_place(w, i)->outer;
	bool known = w->profile->frames[outer].object != PRF_NONE;

	write_or_null(w->sink, known ? w->symbols.number[w->function_of[outer]] - 1 : 0, known);
}

static void frame_line(struct firefox *w, uint32_t i)
{
	write_or_null(w->sink, nth_frame(w, i)->line, nth_frame(w, i)->line);
}

static const struct column frame_columns[] = {
	{ "address", frame_address },
	{ "inlineDepth", frame_depth },
	{ "category", frame_category },
	{ "subcategory", cell_zero },
	{ "func", frame_func },
	{ "nativeSymbol", frame_symbol },
	{ "innerWindowID", cell_zero },
	{ "implementation", cell_null },
	{ "line", frame_line },
	{ "column", cell_null },
	{ 0 },
};

/* -------- functions, symbols and objects -------- */

static const struct function *nth_function(const struct firefox *w, uint32_t i)
{
	return &w->functions.list[w->calls.list[i]];
}

static void func_name(struct firefox *w, uint32_t i)
{
	sink_unsigned(w->sink, string_number(w, nth_function(w, i)->name));
}

static void func_resource(struct firefox *w, uint32_t i)
{
	uint32_t object = w->object_of[w->calls.list[i]];

	write_address(w->sink, object == PRF_NONE ? UINT64_MAX : w->objects.number[object] - 1);
}

static void func_file(struct firefox *w, uint32_t i)
{
	const char *file = nth_function(w, i)->file;

	write_or_null(w->sink, *file ? string_number(w, file) : 0, *file);
}

static void func_line(struct firefox *w, uint32_t i)
{
	const struct function *function = nth_function(w, i);

	write_or_null(w->sink, function->line, *function->file && function->line);
}

static const struct column func_columns[] = {
	{ "name", func_name },		 { "isJS", cell_false },
	{ "relevantForJS", cell_false }, { "resource", func_resource },
	{ "fileName", func_file },	 { "lineNumber", func_line },
	{ "columnNumber", cell_null },	 { 0 },
};

/*
 * Symbols are the functions that have code of their own; inlined frames name the one that
 * holds them. Where it begins is not in the profile, so the lowest address seen in it stands
 * for it: the profiler takes symbols with the same address for one.
 */
static void symbol_address(struct firefox *w, uint32_t i)
{
	write_address(w->sink, w->lowest[w->symbols.list[i]]);
}

static void symbol_lib(struct firefox *w, uint32_t i)
{
	sink_unsigned(w->sink, w->object_of[w->symbols.list[i]]);
}

static void symbol_name(struct firefox *w, uint32_t i)
{
	sink_unsigned(w->sink, string_number(w, w->functions.list[w->symbols.list[i]].name));
}

static const struct column symbol_columns[] = {
	{ "address", symbol_address },
	{ "functionSize", cell_null },
	{ "libIndex", symbol_lib },
	{ "name", symbol_name },
	{ 0 },
};

static void resource_lib(struct firefox *w, uint32_t i)
{
	sink_unsigned(w->sink, w->objects.list[i]);
}

static void resource_name(struct firefox *w, uint32_t i)
{
	sink_unsigned(w->sink, string_number(w, w->profile->objects[w->objects.list[i]].name));
}

static const struct column resource_columns[] = {
	{ "lib", resource_lib },
	{ "name", resource_name },
	{ "host", cell_null },
	{ "type", cell_one },
	{ 0 },
};

/* -------- loss, as markers -------- */

static void write_loss_time(struct firefox *w, const struct profile_loss *loss, uint64_t time_ns)
{
	const struct profile *p = w->profile;
	uint64_t start = loss->trace < p->trace_count ? p->traces[loss->trace].start_ns : 0;

	firefox_ms(w->sink, time_ns > start ? (time_ns - start) / 1000 : 0);
}

static void marker_data(struct firefox *w, uint32_t i)
{
	const struct profile_loss *loss = &w->profile->losses[i];

	sink_text(w->sink, "{\"type\":\"LostSamples\",\"count\":");
	sink_unsigned(w->sink, loss->count);
	sink_text(w->sink, ",\"reason\":");
	sink_json_string(w->sink, prf_loss_reason_name(loss->reason));
	sink_char(w->sink, '}');
}

static void marker_name(struct firefox *w, uint32_t i)
{
	sink_unsigned(w->sink, string_number(w, "Lost samples"));
}

static void marker_start(struct firefox *w, uint32_t i)
{
	write_loss_time(w, &w->profile->losses[i], w->profile->losses[i].from_ns);
}

static void marker_end(struct firefox *w, uint32_t i)
{
	write_loss_time(w, &w->profile->losses[i], w->profile->losses[i].to_ns);
}

static void marker_category(struct firefox *w, uint32_t i)
{
	sink_unsigned(w->sink, FIREFOX_OTHER);
}

static const struct column marker_columns[] = {
	{ "data", marker_data },
	{ "name", marker_name },
	{ "startTime", marker_start },
	{ "endTime", marker_end },
	{ "phase", cell_one },
	{ "category", marker_category },
	{ 0 },
};

/* -------- a thread -------- */

/* Numbers a stack, after the stacks that called it, and what they need. */
static void need_stack(struct firefox *w, uint32_t node)
{
	const struct profile *p = w->profile;
	size_t n = 0;

	for (; node != PRF_NONE && !w->stacks.number[node]; node = p->nodes[node].parent)
		w->path[n++] = node;
	while (n--) {
		uint32_t place = w->place_of[w->path[n]], outer = w->places[place].outer;
		uint32_t function = w->function_of[w->places[place].frame];

		numbering_add(&w->stacks, w->path[n]);
		numbering_add(&w->frames, place);
		numbering_add(&w->calls, function);
		if (w->object_of[function] != PRF_NONE)
			numbering_add(&w->objects, w->object_of[function]);
		if (p->frames[outer].object != PRF_NONE)
			numbering_add(&w->symbols, w->function_of[outer]);
	}
}

static void write_strings(struct firefox *w)
{
	const char *texts = (const char *)w->texts.data;
	struct sink *s = w->sink;

	sink_text(s, ",\n\"stringArray\":[");
	for (size_t at = 0; at < w->texts.size; at += strlen(texts + at) + 1) {
		if (at)
			sink_char(s, ',');
		sink_json_string(s, texts + at);
	}
	sink_char(s, ']');
}

/*
 * Whether its thread id is the process's, or it is the first one of its process. Where threads
 * are joined, those of a name are a process.
 */
static bool is_main(const struct firefox *w, size_t i)
{
	const struct profile_group *group = w->threads.list[i].group;

	return threads_are_joined(w->profile) || !i || group->pid == group->tid ||
	       w->threads.list[i - 1].group->pid != group->pid ||
	       w->threads.list[i - 1].group->trace != group->trace;
}

struct error *firefox_thread(struct firefox *w, size_t i)
{
	const struct profile *p = w->profile;
	const struct thread *thread = &w->threads.list[i];
	const struct profile_group *group = thread->group;
	bool joined = threads_are_joined(p);
	uint32_t pid = joined ? (uint32_t)i : group->pid;
	uint32_t tid = joined ? (uint32_t)i : group->tid;
	size_t losses = i ? 0 : p->loss_count; /* of no thread; the first one shows them */
	struct sink *s = w->sink;

	w->thread = thread;
	for (uint32_t sample = 0; sample < thread->part_count; sample++)
		need_stack(w, nth_sample_node(w, sample));
	sink_text(s, "{\"name\":");
	sink_json_string(s, group->comm);
	sink_printf(s, ",\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,\"processName\":",
		    is_main(w, i) ? "true" : "false", pid, tid);
	sink_json_string(s, group->comm);
	sink_text(s, ",\"processType\":\"default\",\"processStartupTime\":0,"
		     "\"processShutdownTime\":null,"
		     "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[]");
	begin_table(w, "markers", losses);
	write_columns(w, marker_columns, losses);
	begin_table(w, "samples", thread->part_count);
	sink_text(s, p->value == PROFILE_TIME ? ",\"weightType\":\"tracing-ms\""
					      : ",\"weightType\":\"samples\"");
	write_samples(w);
	begin_table(w, "stackTable", w->stacks.count);
	write_columns(w, stack_columns, w->stacks.count);
	begin_table(w, "frameTable", w->frames.count);
	write_columns(w, frame_columns, w->frames.count);
	begin_table(w, "funcTable", w->calls.count);
	write_columns(w, func_columns, w->calls.count);
	begin_table(w, "nativeSymbols", w->symbols.count);
	write_columns(w, symbol_columns, w->symbols.count);
	begin_table(w, "resourceTable", w->objects.count);
	write_columns(w, resource_columns, w->objects.count);
	write_strings(w);
	sink_char(s, '}');
	numbering_clear(&w->stacks);
	numbering_clear(&w->frames);
	numbering_clear(&w->calls);
	numbering_clear(&w->symbols);
	numbering_clear(&w->objects);
	map_release(&w->strings);
	buffer_clear(&w->texts);
	return buffer_ok(&w->texts) ? NULL : error_memory();
}

/* -------- all threads -------- */

/* Where each node is: which frame an inlined one lies in follows from the stack. */
static bool find_places(struct firefox *w)
{
	const struct profile *p = w->profile;
	struct pairs inlined = { 0 };
	bool ok = array_reserve(&w->places, &w->place_capacity, p->frame_count + 1);

	for (uint32_t i = 0; ok && i < p->frame_count; i++)
		w->places[w->place_count++] = (struct firefox_place){ i, i, 0 };
	for (size_t i = 0; ok && i < p->node_count; i++) {
		uint32_t frame = p->nodes[i].frame, parent = p->nodes[i].parent, number;
		struct firefox_place place;

		w->place_of[i] = frame;
		if (!p->frames[frame].inlined || parent == PRF_NONE ||
		    p->frames[p->nodes[parent].frame].kind == PROFILE_FRAME_GROUP)
			continue;
		place = w->places[w->place_of[parent]];
		place = (struct firefox_place){ frame, place.outer, place.depth + 1 };
		number = pairs_put(&inlined, frame, (uint64_t)place.outer << 32 | place.depth);
		ok = number != UINT32_MAX &&
		     array_reserve(&w->places, &w->place_capacity, w->place_count + 1);
		w->place_of[i] = (uint32_t)p->frame_count + number;
		if (ok && w->place_of[i] == w->place_count)
			w->places[w->place_count++] = place;
	}
	pairs_release(&inlined);
	return ok;
}

/* In which object each function lies, and how low. */
static void find_symbols(struct firefox *w)
{
	const struct profile *p = w->profile;

	for (uint32_t i = 0; i < w->functions.count; i++)
		w->lowest[i] = UINT64_MAX;
	for (size_t i = 0; i < w->place_count; i++) {
		uint32_t outer = w->places[i].outer;
		uint64_t *lowest = &w->lowest[w->function_of[outer]];

		*lowest = p->frames[outer].offset < *lowest ? p->frames[outer].offset : *lowest;
	}
	for (uint32_t i = 0; i < p->frame_count; i++)
		w->object_of[w->function_of[i]] = p->frames[i].object;
}

struct error *firefox_init(struct firefox *w, const struct profile *p, struct sink *s)
{
	size_t functions;
	struct error *error;

	*w = (struct firefox){
		.profile = p,
		.sink = s,
		.functions = { .keys = FUNCTIONS_BY_OBJECT | FUNCTIONS_BY_FILE },
	};
	error = threads_init(&w->threads, p);
	if (!error)
		error = threads_find_parts(&w->threads, p);
	if (!error)
		error = functions_add(&w->functions, p, &w->function_of);
	if (error)
		return error;
	functions = w->functions.count;
	w->object_of = calloc(functions + 1, sizeof(*w->object_of));
	w->lowest = calloc(functions + 1, sizeof(*w->lowest));
	w->place_of = calloc(p->node_count + 1, sizeof(*w->place_of));
	w->path = calloc(profile_depth(p) + 1, sizeof(*w->path));
	if (!w->object_of || !w->lowest || !w->place_of || !w->path || !find_places(w) ||
	    !numbering_init(&w->stacks, p->node_count) ||
	    !numbering_init(&w->frames, w->place_count) || !numbering_init(&w->calls, functions) ||
	    !numbering_init(&w->symbols, functions) ||
	    !numbering_init(&w->objects, p->object_count))
		return error_memory();
	find_symbols(w);
	return NULL;
}

void firefox_release(struct firefox *w)
{
	numbering_release(&w->stacks);
	numbering_release(&w->frames);
	numbering_release(&w->calls);
	numbering_release(&w->symbols);
	numbering_release(&w->objects);
	threads_release(&w->threads);
	functions_release(&w->functions);
	map_release(&w->strings);
	buffer_release(&w->texts);
	free(w->function_of);
	free(w->object_of);
	free(w->lowest);
	free(w->places);
	free(w->place_of);
	free(w->path);
}
