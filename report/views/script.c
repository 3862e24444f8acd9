/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/script.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void write_frame(struct sink *s, const struct profile *p, const struct view_sample *sample,
			uint32_t node)
{
	uint32_t frame = p->nodes[node].frame;

	sink_bytes(s, sample->texts + sample->text_at[frame],
		   sample->text_at[frame + 1] - sample->text_at[frame]);
}

/* -------- perf script -------- */

/* Readers split lines at blanks and look for "sym (object)": no control characters, no ends. */
static void script_name(struct sink *s, const char *name)
{
	sink_printable(s, *name ? name : "[unknown]");
}

static void script_object(struct sink *s, const struct profile *p,
			  const struct profile_frame *frame)
{
	if (frame->inlined)
		sink_text(s, "inlined");
	else if (frame->object == PRF_NONE)
		sink_text(s, "[unknown]");
	else if (p->objects[frame->object].recorded->kind == PRF_OBJECT_KERNEL)
		sink_text(s, "[kernel.kallsyms]");
	else if (p->objects[frame->object].recorded->kind == PRF_OBJECT_UNKNOWN)
		sink_text(s, "[unknown]");
	else
		script_name(s, p->objects[frame->object].recorded->path);
}

void script_frame(const struct profile *p, const struct profile_frame *frame, struct sink *s)
{
	if (frame->kind == PROFILE_FRAME_SEPARATOR)
		return;
	sink_printf(s, "\t%16" PRIx64 " ", frame->offset);
	/* Where only the beginning of a function is known, that is its name. */
	if (frame->named || frame->linkage_name[0] || frame->kind == PROFILE_FRAME_END)
		script_name(s, frame->name);
	else
		sink_text(s, "[unknown]");
	sink_text(s, " (");
	script_object(s, p, frame);
	sink_text(s, ")\n");
}

void script_sample(const struct profile *p, const struct view_options *o,
		   const struct view_sample *sample, struct sink *s)
{
	uint64_t us = sample->time_ns / 1000;

	script_name(s, sample->task->comm);
	sink_printf(s,
		    " %5" PRIu32 "/%-5" PRIu32 " [%03" PRIu32 "] %5" PRIu64 ".%06" PRIu64
		    ": %10" PRIu64 " ",
		    sample->task->pid, sample->task->tid, sample->cpu, us / 1000000, us % 1000000,
		    sample->weight);
	script_name(s, sample->event->name);
	sink_text(s, ": \n");
	for (uint32_t node = sample->node; node != PRF_NONE; node = p->nodes[node].parent)
		write_frame(s, p, sample, node);
	sink_char(s, '\n');
}

/* -------- JSON lines -------- */

static const char *kind_of(const struct profile_frame *frame)
{
	switch (frame->kind) {
	case PROFILE_FRAME_KERNEL: return "kernel";
	case PROFILE_FRAME_JIT: return "jit";
	case PROFILE_FRAME_SCRIPT: return "script";
	case PROFILE_FRAME_END: return "end";
	default: return "user";
	}
}

void jsonl_frame(const struct profile *p, const struct profile_frame *frame, struct sink *s)
{
	if (frame->kind == PROFILE_FRAME_SEPARATOR)
		return;
	sink_text(s, "{\"name\":");
	sink_json_string(s, frame->name);
	sink_printf(s, ",\"kind\":\"%s\"", kind_of(frame));
	if (frame->object != PRF_NONE) {
		sink_text(s, ",\"object\":");
		sink_json_string(s, p->objects[frame->object].recorded->path);
		sink_printf(s, ",\"offset\":%" PRIu64, frame->offset);
	}
	if (frame->file[0]) {
		sink_text(s, ",\"file\":");
		sink_json_string(s, frame->file);
		sink_printf(s, ",\"line\":%" PRIu32, frame->line);
	}
	if (frame->inlined)
		sink_text(s, ",\"inlined\":true");
	if (frame->guessed)
		sink_text(s, ",\"guessed\":true");
	sink_char(s, '}');
}

/* What all samples of a trace have: bytes at[i] up to at[i + 1] for trace i. */
struct jsonl {
	struct sink texts;
	size_t at[];
};

static void write_labels(struct sink *s, const struct profile_trace *t)
{
	for (size_t i = 0; i < t->label_count; i++) {
		sink_text(s, i ? "," : "\"labels\":{");
		sink_json_string(s, t->labels[i].key);
		sink_char(s, ':');
		sink_json_string(s, t->labels[i].value);
	}
	if (t->label_count)
		sink_text(s, "},");
}

struct error *jsonl_begin(const struct profile *p, const struct view_options *o, struct sink *s,
			  void **stream)
{
	struct jsonl *j = malloc(sizeof(*j) + (p->trace_count + 1) * sizeof(*j->at));

	*stream = j;
	if (!j)
		return error_memory();
	sink_init(&j->texts, -1);
	for (size_t i = 0; i < p->trace_count; i++) {
		j->at[i] = j->texts.buffer.size;
		if (p->trace_count > 1) {
			sink_text(&j->texts, "\"trace\":");
			sink_json_string(&j->texts, p->traces[i].path);
			sink_char(&j->texts, ',');
		}
		write_labels(&j->texts, &p->traces[i]);
	}
	j->at[p->trace_count] = j->texts.buffer.size;
	return sink_flush(&j->texts);
}

struct error *jsonl_end(void *stream)
{
	struct jsonl *j = stream;

	sink_release(&j->texts);
	free(j);
	return NULL;
}

void jsonl_sample(const struct profile *p, const struct view_options *o,
		  const struct view_sample *sample, struct sink *s)
{
	const struct jsonl *j = sample->stream;
	const size_t *at = &j->at[sample->trace];
	bool first = true;

	sink_printf(s, "{\"time_ns\":%" PRIu64 ",", sample->time_ns);
	if (at[0] < at[1])
		sink_bytes(s, j->texts.buffer.data + at[0], at[1] - at[0]);
	sink_printf(s, "\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"comm\":", sample->task->pid,
		    sample->task->tid);
	sink_json_string(s, sample->task->comm);
	sink_printf(s, ",\"cpu\":%" PRIu32, sample->cpu);
	if (sample->parallelism)
		sink_printf(s, ",\"parallelism\":%" PRIu32, sample->parallelism);
	sink_text(s, ",\"event\":");
	sink_json_string(s, sample->event->name);
	sink_printf(s, ",\"weight\":%" PRIu64 ",\"unit\":", sample->weight);
	sink_json_string(s, sample->event->unit);
	sink_text(s, ",\"stack\":[");
	for (uint32_t node = sample->node; node != PRF_NONE; node = p->nodes[node].parent) {
		if (p->frames[p->nodes[node].frame].kind == PROFILE_FRAME_SEPARATOR)
			continue;
		if (!first)
			sink_char(s, ',');
		first = false;
		write_frame(s, p, sample, node);
	}
	sink_text(s, "]}\n");
}
