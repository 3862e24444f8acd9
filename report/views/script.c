/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/script.h"

#include <inttypes.h>
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

void jsonl_sample(const struct profile *p, const struct view_options *o,
		  const struct view_sample *sample, struct sink *s)
{
	bool first = true;

	sink_printf(s, "{\"time_ns\":%" PRIu64 ",", sample->time_ns);
	if (p->trace_count > 1) {
		sink_text(s, "\"trace\":");
		sink_json_string(s, p->traces[sample->trace].path);
		sink_char(s, ',');
	}
	write_labels(s, &p->traces[sample->trace]);
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
