/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/page/html.h"

#include "common/fuzzing.h"
#include "common/map.h"
#include "report/page/call_tree.h"
#include "report/page/html_cells.h"
#include "report/page/html_changes.h"
#include "report/page/html_code.h"
#include "report/page/html_column.h"
#include "report/page/html_page.h"
#include "report/page/html_texts.h"
#include "report/tables/sample_time.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

/*
 * What the page reads, report/page/html/payload.js in the same order; numbers are LEB128:
 *
 *   head       size, JSON
 *   texts      count, the length of each, all bytes
 *   functions  count; columns: name, object, file (numbers of texts), line, kind (of head.kinds)
 *   tree       count; of each node, in preorder: levels up from the one before, function
 *   runs       with the cells as report/page/html_cells.h says
 *   base       count; columns: node, value (what it is compared with; else none)
 *   changes    of a comparison only: as report/page/html_changes.h says
 *   code       as report/page/html_code.h says
 */

/* Kinds of functions: those of enum profile_frame_kind, and what else has a colour of its own. */
enum { KIND_INLINED = PROFILE_FRAME_SCRIPT + 1, KIND_WAKER, KIND_COUNT };

/* Their names in the legend, by which report/page/html/colours.js finds their colours. */
static const char *const kind_names[KIND_COUNT] = {
	[PROFILE_FRAME_USER] = "user",
	[PROFILE_FRAME_KERNEL] = "kernel",
	[PROFILE_FRAME_JIT] = "JIT",
	[PROFILE_FRAME_END] = "stack not complete",
	[PROFILE_FRAME_SEPARATOR] = "separator",
	[PROFILE_FRAME_GROUP] = "thread, process or group",
	[PROFILE_FRAME_SCRIPT] = "script",
	[KIND_INLINED] = "inlined",
	[KIND_WAKER] = "waker",
};

/* What a thread did, by number in report/page/html/colours.js. */
enum state { ON_CPU, OFF_CPU, PREEMPTED };

/* Whose cells: a thread in one of its states, while so many threads of its process ran. */
struct source {
	uint32_t thread;
	enum state state;
	uint32_t running; /* 0: not known */
};

struct html {
	const struct profile *profile, *base;
	const struct view_options *options;
	struct threads threads, base_threads;
	struct call_tree tree;
	struct call_order order;
	uint32_t *node_of, *base_node_of; /* per entry */
	struct html_cells cells;
	uint32_t *source_of; /* per group: what its cells name as their source */
	struct source *sources;
	uint32_t source_count;
	struct html_texts texts;
	struct buffer rest; /* changes and code: made before their texts are written */
	struct buffer out;
};

/* -------- head -------- */

static enum state state_of(const struct profile *p, uint32_t group)
{
	uint32_t event = p->groups[group].event;
	enum prf_event_kind kind = event < p->event_count ? p->events[event].kind
							  : PRF_EVENT_ON_CPU;

	return kind == PRF_EVENT_OFF_CPU     ? OFF_CPU
	       : kind == PRF_EVENT_PREEMPTED ? PREEMPTED
					     : ON_CPU;
}

static void head_text(struct sink *s, const char *key, const char *text)
{
	sink_printf(s, ",\"%s\":", key);
	sink_json_string(s, text);
}

static void head_sources(struct html *h, struct sink *s)
{
	sink_text(s, ",\"sources\":[");
	for (uint32_t i = 0; i < h->source_count; i++)
		sink_printf(s, "%s[%u,%d,%u]", i ? "," : "", h->sources[i].thread,
			    (int)h->sources[i].state, h->sources[i].running);
	sink_char(s, ']');
}

static void head_threads(struct html *h, struct sink *s)
{
	sink_text(s, ",\"threads\":[");
	for (size_t i = 0; i < h->threads.count; i++) {
		const struct profile_group *group = h->threads.list[i].group;

		if (threads_are_joined(h->profile))
			sink_printf(s, "%s[null,null,", i ? "," : "");
		else
			sink_printf(s, "%s[%u,%u,", i ? "," : "", group->pid, group->tid);
		sink_json_string(s, group->comm);
		sink_printf(s, ",%u]", group->trace);
	}
	sink_char(s, ']');
}

static uint32_t slice_at(const struct html *h, const struct profile_loss *loss, uint64_t time_ns)
{
	const struct profile *p = h->profile;
	uint64_t start = loss->trace < p->trace_count ? p->traces[loss->trace].start_ns : 0;
	uint64_t slice = p->slice_ns && time_ns > start ? (time_ns - start) / p->slice_ns : 0;

	return slice > h->cells.slices ? h->cells.slices : (uint32_t)slice;
}

static void head_kinds(struct sink *s)
{
	sink_text(s, ",\"kinds\":[");
	for (size_t i = 0; i < KIND_COUNT; i++)
		sink_printf(s, "%s\"%s\"", i ? "," : "", kind_names[i]);
	sink_char(s, ']');
}

static void head_losses(struct html *h, struct sink *s)
{
	const struct profile *p = h->profile;

	sink_text(s, ",\"losses\":[");
	for (size_t i = 0; i < p->loss_count && i < 10000; i++)
		sink_printf(s, "%s[%u,%u]", i ? "," : "",
			    slice_at(h, &p->losses[i], p->losses[i].from_ns),
			    slice_at(h, &p->losses[i], p->losses[i].to_ns));
	sink_char(s, ']');
}

static void put_head(struct html *h)
{
	const struct profile *p = h->profile;
	const struct profile_trace *trace = p->trace_count ? &p->traces[0] : NULL;
	const char *title = h->options->title ? h->options->title : trace ? trace->path : "";
	bool complete = true;
	struct sink s;

	for (size_t i = 0; i < p->trace_count; i++)
		complete &= p->traces[i].complete;
	sink_init(&s, -1);
	sink_printf(&s,
		    "{\"total\":%llu,\"lost\":%llu,\"slices\":%u,\"slice_ns\":%llu,\"duration_ns\":"
		    "%llu,"
		    "\"sample_ns\":%llu,\"complete\":%s",
		    (unsigned long long)p->total, (unsigned long long)p->lost, h->cells.slices,
		    (unsigned long long)p->slice_ns, (unsigned long long)h->threads.duration_ns,
		    (unsigned long long)sample_time(p), complete ? "true" : "false");
	if (p->latency)
		sink_text(&s, ",\"latency\":true");
	head_text(&s, "title", title);
	head_text(&s, "unit", p->unit);
	head_text(&s, "host", trace ? trace->host : "");
	head_text(&s, "kernel", trace ? trace->kernel : "");
	head_text(&s, "command", trace ? trace->command_line : "");
	head_threads(h, &s);
	head_sources(h, &s);
	head_losses(h, &s);
	head_kinds(&s);
	if (h->base) {
		sink_printf(&s, ",\"diff\":{\"normalize\":%s,\"safe\":%s,\"duration_ns\":%llu",
			    h->options->normalize ? "true" : "false",
			    h->options->safe_colours ? "true" : "false",
			    (unsigned long long)h->base_threads.duration_ns);
		head_text(&s, "title", h->base->trace_count ? h->base->traces[0].path : "");
		sink_char(&s, '}');
	}
	sink_char(&s, '}');
	buffer_uleb(&h->out, s.buffer.size);
	buffer_append(&h->out, s.buffer.data, s.buffer.size);
	h->out.failed |= s.buffer.failed || s.error;
	sink_release(&s);
}

/* -------- texts and functions -------- */

static uint8_t function_kind(const struct function *function)
{
	return function->waker ? KIND_WAKER : function->inlined ? KIND_INLINED : function->kind;
}

static void put_functions(struct html *h)
{
	const struct functions *functions = &h->tree.functions;
	size_t n = functions->count;
	struct buffer columns[5] = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct function *function = &functions->list[h->order.functions[i]];

		buffer_uleb(&columns[0], html_text_number(&h->texts, function->name));
		buffer_uleb(&columns[1], html_text_number(&h->texts, function->object));
		buffer_uleb(&columns[2], html_text_number(&h->texts, function->file));
		buffer_uleb(&columns[3], function->line);
		buffer_uleb(&columns[4], function_kind(function));
	}
	html_texts_put(&h->texts, &h->out);
	buffer_uleb(&h->out, n);
	for (int i = 0; i < 5; i++) {
		buffer_append(&h->out, columns[i].data, columns[i].size);
		h->out.failed |= columns[i].failed;
		buffer_release(&columns[i]);
	}
}

static void put_tree(struct html *h)
{
	const struct call_tree *t = &h->tree;
	uint32_t before = 0;
	uint8_t *at;

	buffer_uleb(&h->out, t->count - 1);
	at = html_column_begin(&h->out, 2 * t->count);
	if (!at)
		return;
	for (size_t i = 1; i < t->count; i++) {
		uint32_t node = h->order.nodes[i], up = 0;

		for (; before != t->nodes[node].parent; before = t->nodes[before].parent)
			up++;
		at = html_column_put(at, up);
		at = html_column_put(at, h->order.function_rank[t->nodes[node].function]);
		before = node;
	}
	html_column_end(&h->out, at);
}

/* -------- the base -------- */

static void put_base(struct html *h)
{
	const struct profile *b = h->base;
	uint64_t *value = b ? calloc(h->tree.count, sizeof(*value)) : NULL;
	size_t n = 0;
	uint8_t *at;

	if (b && !value)
		h->out.failed = true;
	for (size_t i = 0; value && i < b->entry_count; i++) {
		uint32_t rank = h->order.node_rank[h->base_node_of[i]];

		n += !value[rank] && b->entries[i].value;
		value[rank] += b->entries[i].value;
	}
	buffer_uleb(&h->out, n);
	at = html_column_begin(&h->out, 2 * n);
	for (size_t i = 0; value && at && i < h->tree.count; i++)
		if (value[i])
			at = html_column_put(at, i);
	for (size_t i = 0; value && at && i < h->tree.count; i++)
		if (value[i])
			at = html_column_put(at, value[i]);
	if (at)
		html_column_end(&h->out, at);
	free(value);
}

/* -------- the page -------- */

/* Sources are numbered as their groups come. */
static struct error *html_sources(struct html *h)
{
	const struct profile *p = h->profile;
	const bool parallel = !h->base && p->dimensions & PROFILE_BY_PARALLELISM;
	struct map numbers = { 0 };
	bool ok, added;

	h->source_of = calloc(p->group_count + 1, sizeof(*h->source_of));
	h->sources = calloc(p->group_count + 1, sizeof(*h->sources));
	ok = h->source_of && h->sources;
	for (uint32_t g = 0; ok && g < p->group_count; g++) {
		const struct source source = { h->threads.thread_of[g], state_of(p, g),
					       parallel ? p->groups[g].parallelism : 0 };

		if (source.thread == PRF_NONE)
			continue;
		h->source_of[g] = map_number(&numbers, &source, sizeof(source), h->source_count,
					     &added);
		ok = h->source_of[g] != UINT32_MAX;
		if (ok && added)
			h->sources[h->source_count++] = source;
	}
	map_release(&numbers);
	return ok ? NULL : error_memory();
}

static struct error *find_cells(struct html *h)
{
	h->cells = (struct html_cells){
		.profile = h->profile,
		.source_of = h->source_of,
		.source_count = h->source_count,
		.node_of = h->node_of,
		.node_rank = h->order.node_rank,
	};
	return html_cells_find(&h->cells);
}

static struct error *put_changes(struct html *h)
{
	const struct html_compared compared = { h->base,   h->profile, &h->tree,
						&h->order, h->node_of, h->base_node_of };

	return html_changes_put(&h->rest, &h->texts, &compared);
}

static struct error *html_build(struct html *h)
{
	struct error *error = threads_init(&h->threads, h->profile);

	if (!error)
		error = call_tree_add(&h->tree, h->profile, &h->threads, &h->node_of);
	if (!error && h->base)
		error = threads_init(&h->base_threads, h->base);
	if (!error && h->base)
		error = call_tree_add(&h->tree, h->base, &h->base_threads, &h->base_node_of);
	if (!error)
		error = call_tree_order(&h->tree, &h->order);
	if (!error)
		error = html_sources(h);
	if (!error)
		error = find_cells(h);
	if (!error && h->base)
		error = put_changes(h);
	if (!error)
		error = html_code_put(&h->rest, &h->texts, h->profile, h->options);
	if (error)
		return error;
	put_head(h);
	put_functions(h);
	put_tree(h);
	html_cells_put(&h->cells, &h->out);
	put_base(h);
	buffer_append(&h->out, h->rest.data, h->rest.size);
	h->out.failed |= h->rest.failed;
	return buffer_ok(&h->out) ? NULL : error_memory();
}

/* Two digits at a time, from a table of all pairs. */
static void write_base64(struct sink *s, const uint8_t *data, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char pairs[64 * 64][2];
	uint32_t bits;

	for (size_t i = 0; i < 64 * 64; i++)
		memcpy(pairs[i], (char[2]){ digits[i / 64], digits[i % 64] }, 2);
	while (size) {
		const size_t part = size < 3 * 4096 ? size : 3 * 4096, threes = part / 3;
		uint8_t *at = sink_room(s, (part + 2) / 3 * 4);

		for (size_t i = 0; at && i < threes; i++, at += 4) {
			const uint8_t *three = data + 3 * i;

			bits = (uint32_t)three[0] << 16 | (uint32_t)three[1] << 8 | three[2];
			memcpy(at, pairs[bits >> 12], 2);
			memcpy(at + 2, pairs[bits & 4095], 2);
		}
		if (at && part % 3) {
			const uint8_t *last = data + 3 * threes;

			bits = (uint32_t)last[0] << 8 | (part % 3 == 2 ? last[1] : 0);
			memcpy(at, pairs[bits >> 4], 2);
			at[2] = (uint8_t)(part % 3 == 2 ? digits[bits << 2 & 63] : '=');
			at[3] = '=';
		}
		data += part;
		size -= part;
	}
}

/*
 * Level 1: the others take longer than all the rest, for a tenth less. A fuzzer need not wait for a
 * library's compression.
 */
#define DATA_LEVEL (FUZZING ? 0 : 1)

static struct error *html_data(const struct html *h, struct sink *s)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(DATA_LEVEL);
	size_t size = libdeflate_zlib_compress_bound(compressor, h->out.size);
	uint8_t *packed = compressor ? malloc(size) : NULL;

	size = packed ? libdeflate_zlib_compress(compressor, h->out.data, h->out.size, packed, size)
		      : 0;
	if (size)
		write_base64(s, packed, size);
	free(packed);
	libdeflate_free_compressor(compressor);
	return size ? NULL : error_memory();
}

static void write_piece(struct sink *s, const struct html_piece *piece)
{
	sink_bytes(s, piece->begin, (size_t)(piece->end - piece->begin));
}

/* One of the page's @words@. */
static struct error *html_word(const struct html *h, struct sink *s, const char *word, size_t size)
{
	if (size == 5 && !memcmp(word, "style", size))
		write_piece(s, &html_style);
	else if (size == 4 && !memcmp(word, "data", size))
		return html_data(h, s);
	else
		for (const struct html_piece *script = html_scripts; script->begin; script++)
			write_piece(s, script);
	return NULL;
}

static struct error *html_write(const struct html *h, struct sink *s)
{
	const char *at = html_page.begin, *open, *close;
	struct error *error = NULL;

	while (!error && (open = memchr(at, '@', (size_t)(html_page.end - at)))) {
		close = memchr(open + 1, '@', (size_t)(html_page.end - open - 1));
		if (!close)
			break;
		sink_bytes(s, at, (size_t)(open - at));
		error = html_word(h, s, open + 1, (size_t)(close - open - 1));
		at = close + 1;
	}
	sink_bytes(s, at, (size_t)(html_page.end - at));
	return error;
}

struct error *html_render(const struct profile *p, const struct view_options *o, struct sink *s)
{
	struct html h = {
		.profile = p,
		.base = o->base,
		.options = o,
		/* What is compared may come from differently named files. */
		.tree.functions.keys = o->base ? 0 : FUNCTIONS_BY_OBJECT,
	};
	struct error *error = html_build(&h);

	if (!error)
		error = html_write(&h, s);
	threads_release(&h.threads);
	threads_release(&h.base_threads);
	call_tree_release(&h.tree);
	call_order_release(&h.order);
	html_cells_release(&h.cells);
	html_texts_release(&h.texts);
	buffer_release(&h.rest);
	buffer_release(&h.out);
	free(h.node_of);
	free(h.base_node_of);
	free(h.source_of);
	free(h.sources);
	return error;
}
