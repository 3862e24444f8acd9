/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/speedscope.h"

#include "report/tables/functions.h"
#include "report/tables/threads.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SPELLED 1000000 /* frame numbers in the file: about 5 MB of them */

struct speedscope {
	const struct profile *profile;
	struct sink *sink;
	struct threads threads;
	struct functions functions;
	uint32_t *function_of; /* per frame */
	uint32_t *path;	       /* of the stack that is being written, leaf first */
	/* When equal stacks are added up: */
	bool merged;
	uint64_t *value; /* per node, and one for samples without frames at the end */
	uint32_t *met;	 /* the nodes of this thread that have one */
};

/* Times are written in us by this unit, everything else as plain numbers. */
static const char *speedscope_unit(const struct profile *p)
{
	if (p->value == PROFILE_TIME)
		return "microseconds";
	return strcmp(p->unit, "bytes") ? "none" : "bytes";
}

static void write_frames(struct speedscope *w)
{
	struct sink *s = w->sink;

	sink_text(s, "\"shared\":{\"frames\":[");
	for (size_t i = 0; i < w->functions.count; i++) {
		const struct function *function = &w->functions.list[i];

		sink_text(s, i ? ",\n{\"name\":" : "\n{\"name\":");
		sink_json_string(s, function->name);
		if (*function->file) {
			sink_text(s, ",\"file\":");
			sink_json_string(s, function->file);
		} else if (*function->object) {
			sink_text(s, ",\"file\":");
			sink_json_string(s, function->object);
		}
		if (*function->file && function->line) {
			sink_text(s, ",\"line\":");
			sink_unsigned(s, function->line);
		}
		sink_char(s, '}');
	}
	sink_text(s, "]},\n");
}

static void write_stack(struct speedscope *w, uint32_t node)
{
	const struct profile *p = w->profile;
	size_t n = 0;

	for (; node != PRF_NONE; node = p->nodes[node].parent)
		w->path[n++] = w->function_of[p->nodes[node].frame];
	sink_char(w->sink, '[');
	while (n--) {
		sink_unsigned(w->sink, w->path[n]);
		if (n)
			sink_char(w->sink, ',');
	}
	sink_char(w->sink, ']');
}

/* Calls `visit` for each sample of a thread, added up or in the order of time. */
static void each_sample(struct speedscope *w, const struct thread *thread,
			void (*visit)(struct speedscope *w, uint32_t node, uint64_t value,
				      bool first))
{
	const struct profile *p = w->profile;
	size_t met = 0;
	bool first = true;

	for (size_t i = thread->first_part; i < thread->first_part + thread->part_count; i++) {
		const struct profile_part *part = &p->parts[w->threads.parts[i]];
		uint32_t node = p->entries[part->entry].node;
		size_t slot = node == PRF_NONE ? p->node_count : node;

		if (!part->value)
			continue;
		if (!w->merged) {
			visit(w, node, part->value, first);
			first = false;
			continue;
		}
		if (!w->value[slot])
			w->met[met++] = (uint32_t)slot;
		w->value[slot] += part->value;
	}
	for (size_t i = 0; i < met; i++) {
		visit(w, w->met[i] == p->node_count ? PRF_NONE : w->met[i], w->value[w->met[i]],
		      !i);
		w->value[w->met[i]] = 0;
	}
}

static void visit_stack(struct speedscope *w, uint32_t node, uint64_t value, bool first)
{
	if (!first)
		sink_char(w->sink, ',');
	write_stack(w, node);
}

static void visit_weight(struct speedscope *w, uint32_t node, uint64_t value, bool first)
{
	if (!first)
		sink_char(w->sink, ',');
	sink_unsigned(w->sink, value);
}

static void write_profile(struct speedscope *w, const char *name, const struct thread *thread)
{
	struct sink *s = w->sink;

	sink_text(s, "{\"type\":\"sampled\",\"name\":");
	sink_json_string(s, name);
	sink_text(s, ",\"unit\":\"");
	sink_text(s, speedscope_unit(w->profile));
	sink_text(s, "\",\"startValue\":0,\"endValue\":");
	sink_unsigned(s, thread->value);
	sink_text(s, ",\n\"samples\":[");
	each_sample(w, thread, visit_stack);
	sink_text(s, "],\n\"weights\":[");
	each_sample(w, thread, visit_weight);
	sink_text(s, "]}");
}

static void write_thread(struct speedscope *w, const struct thread *thread)
{
	const struct profile_group *group = thread->group;
	struct buffer name = { 0 };

	buffer_text(&name, group->comm);
	if (!threads_are_joined(w->profile)) {
		buffer_printf(&name, " %u/%u", group->pid, group->tid);
		if (w->profile->trace_count > 1)
			buffer_printf(&name, " %s", w->profile->traces[group->trace].path);
	}
	write_profile(w, buffer_string(&name), thread);
	sink_lacks(w->sink, &name);
	buffer_release(&name);
}

/*
 * All threads in one profile, which is the one that is shown at first. Its samples have no common
 * order, so equal stacks are added up.
 */
static void write_all_threads(struct speedscope *w)
{
	const struct threads *t = &w->threads;
	const bool merged = w->merged;
	struct thread all = { 0 };

	for (size_t i = 0; i < t->count; i++) {
		all.part_count += t->list[i].part_count;
		all.value += t->list[i].value;
	}
	w->merged = true;
	write_profile(w, "all threads", &all);
	w->merged = merged;
}

static struct error *speedscope_init(struct speedscope *w)
{
	const struct profile *p = w->profile;
	uint64_t spelled = 0;
	struct error *error;

	for (size_t i = 0; i < p->part_count; i++) {
		uint32_t node = p->entries[p->parts[i].entry].node;

		spelled += node == PRF_NONE ? 0 : p->nodes[node].depth;
	}
	w->merged = spelled > MAX_SPELLED;
	w->path = calloc(profile_depth(p) + 1, sizeof(*w->path));
	w->value = calloc(p->node_count + 1, sizeof(*w->value));
	w->met = calloc(p->node_count + 1, sizeof(*w->met));
	if (!w->path || !w->value || !w->met)
		return error_memory();
	error = functions_add(&w->functions, p, &w->function_of);
	if (!error)
		error = threads_init(&w->threads, p);
	if (!error)
		error = threads_find_parts(&w->threads, p);
	return error;
}

struct error *speedscope_render(const struct profile *p, const struct view_options *o,
				struct sink *s)
{
	struct speedscope w = {
		.profile = p,
		.sink = s,
		.functions = { .keys = FUNCTIONS_BY_OBJECT | FUNCTIONS_BY_FILE },
	};
	struct error *error = speedscope_init(&w);

	if (!error) {
		sink_text(s,
			  "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n");
		write_frames(&w);
		sink_text(s, "\"profiles\":[\n");
		if (w.threads.count > 1)
			write_all_threads(&w);
		for (size_t i = 0; i < w.threads.count; i++) {
			if (i || w.threads.count > 1)
				sink_text(s, ",\n");
			write_thread(&w, &w.threads.list[i]);
		}
		sink_text(s, "],\n\"name\":");
		sink_json_string(s, o->title ? o->title : p->trace_count ? p->traces[0].path : "");
		sink_text(s, ",\"activeProfileIndex\":0,\"exporter\":\"prof-report " PROF_VERSION
			     "\"}\n");
	}
	free(w.path);
	free(w.value);
	free(w.met);
	free(w.function_of);
	functions_release(&w.functions);
	threads_release(&w.threads);
	return error;
}
