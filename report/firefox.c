/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/firefox.h"

#include "report/functions.h"
#include "report/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Indexes into meta.categories. */
enum category { CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_JIT, CATEGORY_OTHER };

/*
 * Numbers that one thread's tables give to things of the profile: thread tables are local, and
 * hold only what that thread needs. `list` has the things in the order of their numbers.
 */
struct numbering {
	uint32_t *number; /* per thing, counted from 1; 0: none */
	uint32_t *list;
	uint32_t count;
};

struct firefox {
	const struct profile *profile;
	struct sink *sink;
	struct threads threads;
	struct functions functions;
	uint32_t *function_of; /* per frame */
	uint32_t *object_of;   /* per function: index into profile.objects, or PRF_NONE */
	uint32_t *path;	       /* of a stack, leaf first */
	uint32_t *depth;       /* per frame: how deep it is inlined */
	uint32_t *outer;       /* per frame: the frame that it is inlined into, at last */
	uint64_t *lowest;      /* per function: the lowest offset seen in its code */
	struct numbering stacks, frames, calls, symbols, objects;
	struct map strings;    /* text to its number in this thread's table */
	struct buffer texts;   /* those texts, each with its NUL */
};

static int numbering_init(struct numbering *n, size_t things)
{
	n->number = calloc(things + 1, sizeof(*n->number));
	n->list = calloc(things + 1, sizeof(*n->list));
	return n->number && n->list ? 0 : -ENOMEM;
}

static void numbering_release(struct numbering *n)
{
	free(n->number);
	free(n->list);
}

static uint32_t number_of(struct numbering *n, uint32_t thing)
{
	if (!n->number[thing]) {
		n->list[n->count++] = thing;
		n->number[thing] = n->count;
	}
	return n->number[thing] - 1;
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

/* -------- columns: "name":[1,2,...] -------- */

static void column(struct sink *s, const char *name)
{
	sink_text(s, ",\"");
	sink_text(s, name);
	sink_text(s, "\":[");
}

static void separate(struct sink *s, size_t i)
{
	if (i)
		sink_char(s, ',');
}

/* A column of `n` times the same. */
static void column_same(struct sink *s, const char *name, const char *value, size_t n)
{
	column(s, name);
	for (size_t i = 0; i < n; i++) {
		separate(s, i);
		sink_text(s, value);
	}
	sink_char(s, ']');
}

static void table(struct sink *s, const char *name, size_t n)
{
	sink_text(s, ",\n\"");
	sink_text(s, name);
	sink_text(s, "\":{\"length\":");
	sink_unsigned(s, n);
}

/* Ms with three decimals, from us. */
static void write_ms(struct sink *s, uint64_t us)
{
	char decimals[5] = { '.', (char)('0' + us / 100 % 10), (char)('0' + us / 10 % 10),
			     (char)('0' + us % 10), 0 };

	sink_unsigned(s, us / 1000);
	if (us % 1000)
		sink_bytes(s, decimals, 4);
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

/* -------- what a thread needs -------- */

/* Numbers a stack, after the stacks that called it. */
static void need_stack(struct firefox *w, uint32_t node)
{
	const struct profile *p = w->profile;
	size_t n = 0;

	for (; node != PRF_NONE && !w->stacks.number[node]; node = p->nodes[node].parent)
		w->path[n++] = node;
	while (n--) {
		uint32_t frame = p->nodes[w->path[n]].frame, object;

		number_of(&w->stacks, w->path[n]);
		number_of(&w->frames, frame);
		number_of(&w->calls, w->function_of[frame]);
		object = w->object_of[w->function_of[frame]];
		if (object != PRF_NONE)
			number_of(&w->objects, object);
	}
}

static enum category frame_category(const struct profile_frame *frame)
{
	switch (frame->kind) {
	case PROFILE_FRAME_USER:
		return CATEGORY_USER;
	case PROFILE_FRAME_KERNEL:
		return CATEGORY_KERNEL;
	case PROFILE_FRAME_JIT:
		return CATEGORY_JIT;
	default:
		return CATEGORY_OTHER;
	}
}

static const struct profile_frame *nth_frame(const struct firefox *w, uint32_t i)
{
	return &w->profile->frames[w->frames.list[i]];
}

/* -------- the tables of a thread -------- */

static void write_samples(struct firefox *w, const struct thread *thread)
{
	const struct profile *p = w->profile;
	const uint32_t *entries = w->threads.entries + thread->first;
	struct sink *s = w->sink;

	table(s, "samples", thread->count);
	sink_text(s, p->value == PROFILE_TIME ? ",\"weightType\":\"tracing-ms\""
					      : ",\"weightType\":\"samples\"");
	column(s, "stack");
	for (size_t i = 0; i < thread->count; i++) {
		uint32_t node = p->entries[entries[i]].node;

		separate(s, i);
		write_or_null(s, node == PRF_NONE ? 0 : w->stacks.number[node] - 1, node != PRF_NONE);
	}
	sink_char(s, ']');
	column(s, "time");
	for (size_t i = 0; i < thread->count; i++) {
		separate(s, i);
		write_ms(s, threads_time(p, &p->entries[entries[i]]) / 1000);
	}
	sink_char(s, ']');
	column(s, "weight");
	for (size_t i = 0; i < thread->count; i++) {
		uint64_t value = p->entries[entries[i]].value;

		separate(s, i);
		if (p->value == PROFILE_TIME)
			write_ms(s, value);
		else
			sink_unsigned(s, value);
	}
	sink_text(s, "]}");
}

static void write_stack_table(struct firefox *w)
{
	const struct profile *p = w->profile;
	const struct numbering *stacks = &w->stacks;
	struct sink *s = w->sink;

	table(s, "stackTable", stacks->count);
	column(s, "prefix");
	for (uint32_t i = 0; i < stacks->count; i++) {
		uint32_t parent = p->nodes[stacks->list[i]].parent;

		separate(s, i);
		write_or_null(s, parent == PRF_NONE ? 0 : stacks->number[parent] - 1,
			      parent != PRF_NONE);
	}
	sink_char(s, ']');
	column(s, "frame");
	for (uint32_t i = 0; i < stacks->count; i++) {
		separate(s, i);
		sink_unsigned(s, w->frames.number[p->nodes[stacks->list[i]].frame] - 1);
	}
	sink_char(s, ']');
	column(s, "category");
	for (uint32_t i = 0; i < stacks->count; i++) {
		separate(s, i);
		sink_unsigned(s, frame_category(&p->frames[p->nodes[stacks->list[i]].frame]));
	}
	sink_char(s, ']');
	column_same(s, "subcategory", "0", stacks->count);
	sink_char(s, '}');
}

static void write_frame_table(struct firefox *w)
{
	uint32_t n = w->frames.count;
	struct sink *s = w->sink;

	table(s, "frameTable", n);
	column(s, "address");
	for (uint32_t i = 0; i < n; i++) {
		separate(s, i);
		write_address(s, nth_frame(w, i)->object == PRF_NONE ? UINT64_MAX
								    : nth_frame(w, i)->offset);
	}
	sink_char(s, ']');
	column(s, "inlineDepth");
	for (uint32_t i = 0; i < n; i++) {
		separate(s, i);
		sink_unsigned(s, w->depth[w->frames.list[i]]);
	}
	sink_char(s, ']');
	column(s, "category");
	for (uint32_t i = 0; i < n; i++) {
		separate(s, i);
		sink_unsigned(s, frame_category(nth_frame(w, i)));
	}
	sink_char(s, ']');
	column_same(s, "subcategory", "0", n);
	column(s, "func");
	for (uint32_t i = 0; i < n; i++) {
		separate(s, i);
		sink_unsigned(s, w->calls.number[w->function_of[w->frames.list[i]]] - 1);
	}
	sink_char(s, ']');
	column(s, "nativeSymbol");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t outer = w->outer[w->frames.list[i]];
		bool known = w->profile->frames[outer].object != PRF_NONE;

		separate(s, i);
		write_or_null(s, known ? w->symbols.number[w->function_of[outer]] - 1 : 0, known);
	}
	sink_char(s, ']');
	column_same(s, "innerWindowID", "0", n);
	column_same(s, "implementation", "null", n);
	column(s, "line");
	for (uint32_t i = 0; i < n; i++) {
		separate(s, i);
		write_or_null(s, nth_frame(w, i)->line, nth_frame(w, i)->line);
	}
	sink_char(s, ']');
	column_same(s, "column", "null", n);
	sink_char(s, '}');
}

static void write_func_table(struct firefox *w)
{
	uint32_t n = w->calls.count;
	struct sink *s = w->sink;

	table(s, "funcTable", n);
	column(s, "name");
	for (uint32_t i = 0; i < n; i++) {
		separate(s, i);
		sink_unsigned(s, string_number(w, w->functions.list[w->calls.list[i]].name));
	}
	sink_char(s, ']');
	column_same(s, "isJS", "false", n);
	column_same(s, "relevantForJS", "false", n);
	column(s, "resource");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t object = w->object_of[w->calls.list[i]];

		separate(s, i);
		if (object == PRF_NONE)
			sink_text(s, "-1");
		else
			sink_unsigned(s, w->objects.number[object] - 1);
	}
	sink_char(s, ']');
	column(s, "fileName");
	for (uint32_t i = 0; i < n; i++) {
		const char *file = w->functions.list[w->calls.list[i]].file;

		separate(s, i);
		write_or_null(s, *file ? string_number(w, file) : 0, *file);
	}
	sink_char(s, ']');
	column(s, "lineNumber");
	for (uint32_t i = 0; i < n; i++) {
		const struct function *function = &w->functions.list[w->calls.list[i]];

		separate(s, i);
		write_or_null(s, function->line, *function->file && function->line);
	}
	sink_char(s, ']');
	column_same(s, "columnNumber", "null", n);
	sink_char(s, '}');
}

/*
 * The functions that have code of their own; inlined frames name the one that holds them. Where
 * it begins is not in the profile, so the lowest address seen in it stands for it: the
 * profiler takes symbols with the same address for one.
 */
static void write_native_symbols(struct firefox *w)
{
	uint32_t n = w->symbols.count;
	struct sink *s = w->sink;

	table(s, "nativeSymbols", n);
	column(s, "address");
	for (uint32_t i = 0; i < n; i++) {
		separate(s, i);
		write_address(s, w->lowest[w->symbols.list[i]]);
	}
	sink_char(s, ']');
	column_same(s, "functionSize", "null", n);
	column(s, "libIndex");
	for (uint32_t i = 0; i < n; i++) {
		separate(s, i);
		sink_unsigned(s, w->object_of[w->symbols.list[i]]);
	}
	sink_char(s, ']');
	column(s, "name");
	for (uint32_t i = 0; i < n; i++) {
		separate(s, i);
		sink_unsigned(s, string_number(w, w->functions.list[w->symbols.list[i]].name));
	}
	sink_text(s, "]}");
}

static void write_resource_table(struct firefox *w)
{
	const struct numbering *objects = &w->objects;
	struct sink *s = w->sink;

	table(s, "resourceTable", objects->count);
	column(s, "lib");
	for (uint32_t i = 0; i < objects->count; i++) {
		separate(s, i);
		sink_unsigned(s, objects->list[i]);
	}
	sink_char(s, ']');
	column(s, "name");
	for (uint32_t i = 0; i < objects->count; i++) {
		separate(s, i);
		sink_unsigned(s, string_number(w, w->profile->objects[objects->list[i]].name));
	}
	sink_char(s, ']');
	column_same(s, "host", "null", objects->count);
	column_same(s, "type", "1", objects->count);
	sink_char(s, '}');
}

/* Loss belongs to no thread; the first one shows it. */
static void write_markers(struct firefox *w, bool first)
{
	const struct profile *p = w->profile;
	size_t n = first ? p->loss_count : 0;
	struct sink *s = w->sink;

	table(s, "markers", n);
	column(s, "data");
	for (size_t i = 0; i < n; i++) {
		separate(s, i);
		sink_text(s, "{\"type\":\"LostSamples\",\"count\":");
		sink_unsigned(s, p->losses[i].count);
		sink_text(s, ",\"reason\":");
		sink_json_string(s, prf_loss_reason_name(p->losses[i].reason));
		sink_char(s, '}');
	}
	sink_char(s, ']');
	column(s, "name");
	for (size_t i = 0; i < n; i++) {
		separate(s, i);
		sink_unsigned(s, string_number(w, "Lost samples"));
	}
	sink_char(s, ']');
	for (int end = 0; end < 2; end++) {
		column(s, end ? "endTime" : "startTime");
		for (size_t i = 0; i < n; i++) {
			const struct profile_loss *loss = &p->losses[i];
			uint64_t at = end ? loss->to_ns : loss->from_ns;
			uint64_t start = loss->trace < p->trace_count ? p->traces[loss->trace].start_ns : 0;

			separate(s, i);
			write_ms(s, at > start ? (at - start) / 1000 : 0);
		}
		sink_char(s, ']');
	}
	column_same(s, "phase", "1", n);
	column_same(s, "category", "3", n);
	sink_char(s, '}');
}

static void write_strings(struct firefox *w)
{
	struct sink *s = w->sink;

	sink_text(s, ",\n\"stringArray\":[");
	for (size_t at = 0; at < w->texts.size; at += strlen((const char *)w->texts.data + at) + 1) {
		separate(s, at);
		sink_json_string(s, (const char *)w->texts.data + at);
	}
	sink_char(s, ']');
}

/* Whether its thread id is the process's, or there is no such thread in the profile. */
static bool is_main(const struct firefox *w, size_t i)
{
	const struct profile_group *group = w->threads.list[i].group;

	return !i || group->pid == group->tid ||
	       w->threads.list[i - 1].group->pid != group->pid ||
	       w->threads.list[i - 1].group->trace != group->trace;
}

static void write_thread(struct firefox *w, size_t index)
{
	const struct thread *thread = &w->threads.list[index];
	const struct profile_group *group = thread->group;
	struct sink *s = w->sink;

	for (size_t i = 0; i < thread->count; i++)
		need_stack(w, w->profile->entries[w->threads.entries[thread->first + i]].node);
	for (uint32_t i = 0; i < w->frames.count; i++) {
		uint32_t outer = w->outer[w->frames.list[i]];

		if (w->profile->frames[outer].object != PRF_NONE)
			number_of(&w->symbols, w->function_of[outer]);
	}
	sink_text(s, "{\"name\":");
	sink_json_string(s, group->comm);
	sink_printf(s, ",\"isMainThread\":%s,\"pid\":\"%u\",\"tid\":%u,\"processName\":",
		    is_main(w, index) ? "true" : "false", group->pid, group->tid);
	sink_json_string(s, group->comm);
	sink_text(s, ",\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
		     "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[]");
	write_markers(w, index == 0);
	write_samples(w, thread);
	write_stack_table(w);
	write_frame_table(w);
	write_func_table(w);
	write_native_symbols(w);
	write_resource_table(w);
	write_strings(w);
	sink_char(s, '}');
	numbering_clear(&w->stacks);
	numbering_clear(&w->frames);
	numbering_clear(&w->calls);
	numbering_clear(&w->symbols);
	numbering_clear(&w->objects);
	map_release(&w->strings);
	buffer_clear(&w->texts);
}

/* -------- the profile -------- */

static void write_meta(struct firefox *w, const char *title)
{
	const struct profile *p = w->profile;
	const struct profile_trace *trace = p->trace_count ? &p->traces[0] : NULL;
	struct sink *s = w->sink;

	sink_text(s, "{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":49,\"interval\":");
	write_ms(s, p->event_count && p->events[0].ns_per_sample ? p->events[0].ns_per_sample / 1000
								 : 1000);
	sink_text(s, ",\"startTime\":");
	write_ms(s, trace ? trace->realtime_ns / 1000 : 0);
	sink_text(s, ",\"product\":");
	sink_json_string(s, title);
	sink_text(s, ",\"oscpu\":");
	sink_json_string(s, trace ? trace->kernel : "");
	sink_text(s, ",\"importedFrom\":\"prof\",\"processType\":0,\"categories\":["
		     "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
		     "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
		     "{\"name\":\"JIT\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
		     "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}],"
		     "\"markerSchema\":[{\"name\":\"LostSamples\",\"tooltipLabel\":\"Lost samples\","
		     "\"tableLabel\":\"{marker.data.count} lost: {marker.data.reason}\","
		     "\"chartLabel\":\"{marker.data.count} lost\","
		     "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"data\":["
		     "{\"key\":\"count\",\"label\":\"Samples\",\"format\":\"integer\"},"
		     "{\"key\":\"reason\",\"label\":\"Reason\",\"format\":\"string\"}]}],"
		     "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"\xc2\xb5s\"},"
		     "\"symbolicated\":true,\"pausedRanges\":[],\"usesOnlyOneStackType\":true,"
		     "\"doesNotUseFrameImplementation\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		     "\"debug\":false,\"stackwalk\":1,\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]}},");
}

static void write_build_id(struct sink *s, const struct prf_object *object)
{
	char id[2 * PRF_BUILD_ID_MAX + 1] = "";

	for (unsigned int i = 0; i < object->build_id_size && i < PRF_BUILD_ID_MAX; i++) {
		id[2 * i] = "0123456789abcdef"[object->build_id[i] >> 4];
		id[2 * i + 1] = "0123456789abcdef"[object->build_id[i] & 15];
	}
	sink_text(s, id);
}

/* A build-id as breakpad writes it: a GUID, with its first three parts little-endian, and an age. */
static void write_breakpad_id(struct sink *s, const struct prf_object *object)
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	for (unsigned int i = 0; i < 16; i++)
		sink_printf(s, "%02X", order[i] < object->build_id_size ? object->build_id[order[i]] : 0);
	sink_char(s, '0');
}

static void write_libs(struct firefox *w)
{
	const struct profile *p = w->profile;
	const char *arch = p->trace_count ? p->traces[0].arch : "";
	struct sink *s = w->sink;

	sink_text(s, "\n\"libs\":[");
	for (size_t i = 0; i < p->object_count; i++) {
		const struct prf_object *object = p->objects[i].recorded;

		sink_text(s, i ? ",\n{\"arch\":" : "\n{\"arch\":");
		sink_json_string(s, arch);
		sink_text(s, ",\"name\":");
		sink_json_string(s, p->objects[i].name);
		sink_text(s, ",\"path\":");
		sink_json_string(s, object->path);
		sink_text(s, ",\"debugName\":");
		sink_json_string(s, p->objects[i].name);
		sink_text(s, ",\"debugPath\":");
		sink_json_string(s, object->path);
		sink_text(s, ",\"breakpadId\":\"");
		write_breakpad_id(s, object);
		sink_text(s, "\",\"codeId\":\"");
		write_build_id(s, object);
		sink_text(s, "\"}");
	}
	sink_text(s, "],\n\"pages\":[],\"profilerOverhead\":[],\"counters\":[],\n\"threads\":[\n");
}

/* Which frame an inlined one belongs to follows from any stack that has it; and where functions lie. */
static void find_inlines(struct firefox *w)
{
	const struct profile *p = w->profile;

	for (uint32_t i = 0; i < p->frame_count; i++)
		w->outer[i] = i;
	for (size_t i = 0; i < p->node_count; i++) {
		uint32_t frame = p->nodes[i].frame, parent = p->nodes[i].parent;

		if (!p->frames[frame].inlined || parent == PRF_NONE)
			continue;
		w->outer[frame] = w->outer[p->nodes[parent].frame];
		w->depth[frame] = w->depth[p->nodes[parent].frame] + 1;
	}
	for (uint32_t i = 0; i < w->functions.count; i++)
		w->lowest[i] = UINT64_MAX;
	for (uint32_t i = 0; i < p->frame_count; i++) {
		uint32_t function = w->function_of[w->outer[i]];

		if (p->frames[i].offset < w->lowest[function])
			w->lowest[function] = p->frames[i].offset;
	}
}

static int firefox_init(struct firefox *w)
{
	const struct profile *p = w->profile;
	uint32_t depth = 0;

	for (size_t i = 0; i < p->node_count; i++)
		depth = p->nodes[i].depth > depth ? p->nodes[i].depth : depth;
	if (functions_add(&w->functions, p, &w->function_of))
		return -ENOMEM;
	w->path = calloc(depth + 1, sizeof(*w->path));
	w->depth = calloc(p->frame_count + 1, sizeof(*w->depth));
	w->outer = calloc(p->frame_count + 1, sizeof(*w->outer));
	w->object_of = calloc(w->functions.count + 1, sizeof(*w->object_of));
	w->lowest = calloc(w->functions.count + 1, sizeof(*w->lowest));
	if (!w->path || !w->depth || !w->outer || !w->object_of || !w->lowest ||
	    numbering_init(&w->stacks, p->node_count) || numbering_init(&w->frames, p->frame_count) ||
	    numbering_init(&w->calls, w->functions.count) ||
	    numbering_init(&w->symbols, w->functions.count) ||
	    numbering_init(&w->objects, p->object_count))
		return -ENOMEM;
	for (size_t i = 0; i < p->frame_count; i++)
		w->object_of[w->function_of[i]] = p->frames[i].object;
	find_inlines(w);
	return threads_init(&w->threads, p);
}

static void firefox_release(struct firefox *w)
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
	free(w->path);
	free(w->depth);
	free(w->lowest);
	free(w->outer);
}

int firefox_render(const struct profile *p, const struct view_options *o, struct sink *s)
{
	struct firefox w = {
		.profile = p,
		.sink = s,
		.functions = { .keys = FUNCTIONS_BY_OBJECT | FUNCTIONS_BY_FILE },
	};
	int result = firefox_init(&w);

	if (!result) {
		write_meta(&w, o->title ? o->title : p->trace_count ? p->traces[0].path : "prof");
		write_libs(&w);
		for (size_t i = 0; i < w.threads.count; i++) {
			if (i)
				sink_text(s, ",\n");
			write_thread(&w, i);
		}
		sink_text(s, "]}\n");
		if (!buffer_ok(&w.texts))
			result = -ENOMEM;
	}
	firefox_release(&w);
	return result;
}
