/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/info.h"

#include "report/unnamed.h"
#include "common/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Objects without names that text lists for each remedy. */
#define UNNAMED_SHOWN 12

/* -------- user stacks -------- */

#define NO_USER_STACK UINT64_MAX

/* Why the stack ends, by its outermost frame: an enum prf_stack_end, or NO_USER_STACK. */
static uint64_t outermost(const struct prf_frame *frame)
{
	if (frame->flags & PRF_FRAME_END)
		return frame->offset;
	return frame->flags & PRF_FRAME_KERNEL ? NO_USER_STACK : PRF_END_ROOT;
}

/* The same for all stacks of a trace, as a parent comes before its children; to be freed. */
static uint64_t *stack_ends(const struct prf_reader *r)
{
	size_t n = prf_reader_stacks(r);
	const struct prf_stack *stacks = prf_reader_all_stacks(r);
	const struct prf_frame *frames = prf_reader_all_frames(r);
	uint64_t *ends = malloc((n + 1) * sizeof(*ends));

	for (size_t i = 0; ends && i < n; i++) {
		if (stacks[i].parent != PRF_NONE)
			ends[i] = ends[stacks[i].parent];
		else if (stacks[i].frame != PRF_NONE)
			ends[i] = outermost(&frames[stacks[i].frame]);
		else
			ends[i] = NO_USER_STACK;
	}
	return ends;
}

struct error *user_stacks_count(struct user_stacks *u, const struct tally *tally,
				const struct trace *trace)
{
	size_t n;
	const struct tally_cell *cells = tally_cells(tally, &n);
	uint64_t *ends = stack_ends(trace->reader);

	*u = (struct user_stacks){ 0 };
	if (!ends)
		return error_memory();
	for (size_t i = 0; i < n; i++) {
		uint64_t end;

		if (cells[i].stack == PRF_NONE)
			continue;
		end = ends[cells[i].stack];
		if (end < PRF_END_COUNT)
			u->samples[end] += cells[i].samples;
		else if (end != NO_USER_STACK)
			u->other += cells[i].samples;
	}
	free(ends);
	return NULL;
}

/* -------- what both forms report -------- */

struct facts {
	const struct loaded *loaded;
	const struct trace *trace;
	struct user_stacks user;
	uint64_t file_bytes, raw_bytes, duration_ns;
	uint64_t part_bytes[TRACE_PART_COUNT];
	unsigned int major, minor;
	uint64_t *event_samples; /* of each event of the profile */
};

static const char *const part_names[TRACE_PART_COUNT] = {
	[TRACE_PART_SAMPLES] = "samples", [TRACE_PART_STACKS] = "stacks",
	[TRACE_PART_FRAMES] = "frames",	  [TRACE_PART_NAMES] = "names",
	[TRACE_PART_OTHER] = "other",
};

/* The file's bytes by what they are for; the file header and skipped bytes are in the last. */
static void split_bytes(struct facts *f)
{
	uint64_t counted = 0;

	for (unsigned int i = 0; i < TRACE_PART_OTHER; i++)
		counted += f->part_bytes[i] = f->trace->part_bytes[i];
	f->part_bytes[TRACE_PART_OTHER] = f->file_bytes - counted;
}

static struct error *gather(struct facts *f, const struct loaded *l)
{
	const struct profile *p = l->profile;
	const struct trace *t = &l->traces[0];

	*f = (struct facts){ .loaded = l, .trace = t };
	prf_reader_bytes(t->reader, &f->file_bytes, &f->raw_bytes);
	split_bytes(f);
	prf_reader_version(t->reader, &f->major, &f->minor);
	if (!trace_statistic(t, "duration_ns", &f->duration_ns))
		f->duration_ns = t->totals.last_ns - t->totals.first_ns;
	f->event_samples = calloc(p->event_count + 1, sizeof(*f->event_samples));
	if (!f->event_samples)
		return error_memory();
	for (size_t i = 0; i < p->entry_count; i++)
		f->event_samples[p->groups[p->entries[i].group].event] += p->entries[i].samples;
	return user_stacks_count(&f->user, l->tally, t);
}

/* Times per second that an event is sampled; 0: not by time. */
static double event_rate(const struct profile_event *e)
{
	if (e->frequency)
		return (double)e->frequency;
	return e->interval_ns ? 1e9 / (double)e->interval_ns : 0;
}

static const char *kind_name(enum prf_event_kind kind)
{
	static const char *const names[] = {
		[PRF_EVENT_ON_CPU] = "on-cpu",
		[PRF_EVENT_OFF_CPU] = "off-cpu",
		[PRF_EVENT_PREEMPTED] = "preempted",
		[PRF_EVENT_COUNT] = "count",
	};

	return (unsigned int)kind < sizeof(names) / sizeof(*names) ? names[kind] : "unknown";
}

/* The recorder's version: what follows the blank in "prof-record 1.2.3". */
static const char *recorder_version(const struct trace *t)
{
	const char *version = trace_metadata(t, "version");
	const char *recorder = trace_metadata(t, "recorder");
	const char *blank = recorder ? strrchr(recorder, ' ') : NULL;

	return version ? version : blank ? blank + 1 : recorder;
}

/* -------- JSON -------- */

static void json_key(struct sink *s, const char *key)
{
	sink_text(s, ",\n  ");
	sink_json_string(s, key);
	sink_text(s, ": ");
}

static void json_number(struct sink *s, const char *key, uint64_t value)
{
	json_key(s, key);
	sink_unsigned(s, value);
}

static void json_text(struct sink *s, const char *key, const char *value)
{
	json_key(s, key);
	if (value)
		sink_json_string(s, value);
	else
		sink_text(s, "null");
}

/* A member of an object within the main one; reasons get '_' so that they are identifiers. */
static void json_member(struct sink *s, bool first, const char *name, uint64_t value)
{
	sink_text(s, first ? "\"" : ", \"");
	for (const char *c = name; *c; c++)
		sink_char(s, *c == '-' ? '_' : *c);
	sink_text(s, "\": ");
	sink_unsigned(s, value);
}

static void json_events(const struct facts *f, struct sink *s)
{
	const struct profile *p = f->loaded->profile;

	json_key(s, "events");
	sink_char(s, '[');
	for (size_t i = 0; i < p->event_count; i++) {
		const struct profile_event *e = &p->events[i];

		sink_text(s, i ? ",\n    {\"name\": " : "\n    {\"name\": ");
		sink_json_string(s, e->name);
		sink_printf(s, ", \"kind\": \"%s\", \"unit\": ", kind_name(e->kind));
		sink_json_string(s, e->unit);
		if (event_rate(e) > 0)
			sink_printf(s, ", \"rate\": %.10g", event_rate(e));
		else
			sink_text(s, ", \"rate\": null");
		if (e->period)
			sink_printf(s, ", \"period\": %" PRIu64, e->period);
		sink_printf(s, ", \"samples\": %" PRIu64 "}", f->event_samples[i]);
	}
	sink_text(s, p->event_count ? "\n  ]" : "]");
}

static void json_losses(const struct facts *f, struct sink *s)
{
	bool first = true;

	json_key(s, "lost");
	sink_char(s, '{');
	for (unsigned int i = 0; i < PRF_LOSS_COUNT; i++) {
		if (i == PRF_LOSS_SIDE_BAND)
			continue;
		json_member(s, first, prf_loss_reason_name((enum prf_loss_reason)i),
			    f->trace->lost[i]);
		first = false;
	}
	sink_char(s, '}');
	json_number(s, "lost_mapping_records", f->trace->lost[PRF_LOSS_SIDE_BAND]);
}

static void json_bytes(const struct facts *f, struct sink *s)
{
	json_number(s, "file_bytes", f->file_bytes);
	json_key(s, "bytes");
	sink_char(s, '{');
	for (unsigned int i = 0; i < TRACE_PART_COUNT; i++)
		json_member(s, i == 0, part_names[i], f->part_bytes[i]);
	sink_char(s, '}');
	json_number(s, "raw_bytes", f->raw_bytes);
}

static void json_user_stacks(const struct facts *f, struct sink *s)
{
	json_key(s, "user_stacks");
	sink_char(s, '{');
	for (unsigned int i = 0; i < PRF_END_COUNT; i++)
		json_member(s, i == 0, prf_stack_end_name((enum prf_stack_end)i),
			    f->user.samples[i]);
	if (f->user.other)
		json_member(s, false, "unknown", f->user.other);
	sink_char(s, '}');
}

static void json_pairs(const struct facts *f, struct sink *s)
{
	const struct trace *t = f->trace;

	json_key(s, "metadata");
	sink_char(s, '{');
	for (size_t i = 0; i < t->metadata_count; i++) {
		sink_text(s, i ? ", " : "");
		sink_json_string(s, t->metadata[i].key);
		sink_text(s, ": ");
		sink_json_string(s, t->metadata[i].value);
	}
	sink_char(s, '}');
	json_key(s, "statistics");
	sink_char(s, '{');
	for (size_t i = 0; i < t->statistic_count; i++) {
		sink_text(s, i ? ", " : "");
		sink_json_string(s, t->statistics[i].key);
		sink_printf(s, ": %" PRIu64, t->statistics[i].value);
	}
	sink_char(s, '}');
}

static void json_unnamed(const struct facts *f, struct sink *s)
{
	const struct profile *p = f->loaded->profile;
	size_t n;
	struct unnamed *list = unnamed_objects(p, &n);

	json_key(s, "unnamed");
	sink_char(s, '[');
	for (size_t i = 0; list && i < n; i++) {
		const struct profile_object *o = &p->objects[list[i].object];

		sink_text(s, i ? ",\n    {\"object\": " : "\n    {\"object\": ");
		sink_json_string(s, o->recorded->path);
		sink_text(s, ", \"why\": ");
		sink_json_string(s, unnamed_reason(o));
		sink_printf(s, ", \"samples\": %" PRIu64 "}", list[i].samples);
	}
	sink_text(s, list && n ? "\n  ]" : "]");
	if (!list)
		s->error = ENOMEM;
	free(list);
}

struct error *info_json(const struct loaded *l, struct sink *s)
{
	struct facts f;
	struct error *error = gather(&f, l);
	const struct trace *t = f.trace;
	uint64_t fired;

	if (error)
		goto out;
	sink_printf(s, "{\n  \"complete\": %s", prf_reader_complete(t->reader) ? "true" : "false");
	json_text(s, "file", t->path);
	json_number(s, "samples", t->totals.samples);
	json_key(s, "fired");
	if (trace_statistic(t, "fired", &fired))
		sink_unsigned(s, fired);
	else
		sink_text(s, "null");
	json_losses(&f, s);
	json_number(s, "duration_ns", f.duration_ns);
	json_number(s, "first_ns", t->totals.first_ns);
	json_number(s, "last_ns", t->totals.last_ns);
	json_bytes(&f, s);
	json_number(s, "blocks", t->blocks);
	json_number(s, "stacks", prf_reader_stacks(t->reader));
	json_number(s, "frames", prf_reader_frames(t->reader));
	json_number(s, "objects", prf_reader_objects(t->reader));
	json_number(s, "tasks", prf_reader_tasks(t->reader));
	json_events(&f, s);
	json_user_stacks(&f, s);
	json_number(s, "damaged_places", t->damage_count);
	json_number(s, "skipped_bytes", t->skipped_bytes);
	json_text(s, "host", trace_metadata(t, "host"));
	json_text(s, "kernel", trace_metadata(t, "kernel"));
	json_text(s, "arch", trace_metadata(t, "arch"));
	json_text(s, "command_line", trace_metadata(t, "command_line"));
	json_text(s, "version", recorder_version(t));
	json_key(s, "format_version");
	sink_printf(s, "\"%u.%u\"", f.major, f.minor);
	json_pairs(&f, s);
	json_unnamed(&f, s);
	sink_text(s, "\n}\n");
out:
	free(f.event_samples);
	return error;
}

/* -------- text -------- */

static void text_line(struct sink *s, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	sink_printf(s, "%-16s", key);
	sink_printable(s, value);
	sink_char(s, '\n');
}

static bool has_own_line(const char *key)
{
	static const char *const keys[] = { "host",	    "kernel",	"arch",
					    "command_line", "recorder", "version" };

	return words_have(keys, sizeof(keys) / sizeof(*keys), key);
}

static void text_events(const struct facts *f, struct sink *s)
{
	const struct profile *p = f->loaded->profile;

	for (size_t i = 0; i < p->event_count; i++) {
		const struct profile_event *e = &p->events[i];

		sink_printf(s, "%-16s", i ? "" : "events");
		sink_printable(s, e->name);
		sink_printf(s, " (%s", kind_name(e->kind));
		if (event_rate(e) > 0)
			sink_printf(s, ", %.10g Hz", event_rate(e));
		else if (e->period > 1)
			sink_printf(s, ", every %" PRIu64, e->period);
		sink_printf(s, "): %" PRIu64 " samples\n", f->event_samples[i]);
	}
}

static void text_losses(const struct facts *f, struct sink *s)
{
	const struct trace *t = f->trace;
	uint64_t fired = 0;
	bool first = true;

	if (trace_statistic(t, "fired", &fired))
		sink_printf(s, "%-16s%" PRIu64 "\n", "fired", fired);
	sink_printf(s, "%-16s%" PRIu64, "lost", trace_lost_samples(t));
	for (unsigned int i = 0; i < PRF_LOSS_COUNT; i++) {
		if (!t->lost[i] || i == PRF_LOSS_SIDE_BAND)
			continue;
		sink_printf(s, "%s%" PRIu64 " %s", first ? " (" : ", ", t->lost[i],
			    prf_loss_reason_name((enum prf_loss_reason)i));
		first = false;
	}
	sink_text(s, first ? "\n" : ")\n");
	if (t->lost[PRF_LOSS_SIDE_BAND])
		sink_printf(s, "%-16s%" PRIu64 " lost: some frames have no object\n",
			    "mapping records", t->lost[PRF_LOSS_SIDE_BAND]);
}

static void text_user_stacks(const struct facts *f, struct sink *s)
{
	uint64_t sum = f->user.other;

	for (unsigned int i = 0; i < PRF_END_COUNT; i++)
		sum += f->user.samples[i];
	if (!sum)
		return;
	sink_printf(s, "%-16s%" PRIu64 " samples, of which %.2f %% reach the root\n", "user stacks",
		    sum, (double)f->user.samples[PRF_END_ROOT] * 100 / (double)sum);
	for (unsigned int i = PRF_END_ROOT + 1; i < PRF_END_COUNT; i++)
		if (f->user.samples[i])
			sink_printf(s, "%-16s%" PRIu64 " %s\n", "", f->user.samples[i],
				    prf_stack_end_name((enum prf_stack_end)i));
	if (f->user.other)
		sink_printf(s, "%-16s%" PRIu64 " for reasons this version does not know\n", "",
			    f->user.other);
}

/* The objects from `first` on that have its remedy, those with most samples; they are done then. */
static void text_remedy(const struct profile *p, struct unnamed *list, size_t n, size_t first,
			struct sink *s)
{
	const char *remedy = unnamed_remedy(&p->objects[list[first].object]);
	uint64_t rest = 0, rest_samples = 0;
	unsigned int shown = 0;

	sink_printf(s, "%s:\n", remedy);
	for (size_t i = first; i < n; i++) {
		const struct profile_object *o = &p->objects[list[i].object];
		uint64_t samples = list[i].samples;

		if (!samples || strcmp(unnamed_remedy(o), remedy))
			continue;
		list[i].samples = 0;
		if (shown++ >= UNNAMED_SHOWN) {
			rest++;
			rest_samples += samples;
			continue;
		}
		sink_printf(s, "%-18s", "");
		sink_printable(s, o->recorded->path);
		sink_printf(s, ": %s, %" PRIu64 " sample%s\n", unnamed_reason(o), samples,
			    samples == 1 ? "" : "s");
	}
	if (rest)
		sink_printf(s, "%-18sand %" PRIu64 " more with %" PRIu64 " samples: see --json\n",
			    "", rest, rest_samples);
}

static void text_unnamed(const struct facts *f, struct sink *s)
{
	const struct profile *p = f->loaded->profile;
	size_t n;
	struct unnamed *list = unnamed_objects(p, &n);

	for (size_t i = 0; list && i < n; i++)
		if (list[i].samples) {
			sink_printf(s, "%-16s", i ? "" : "without names");
			text_remedy(p, list, n, i, s);
		}
	if (!list)
		s->error = ENOMEM;
	free(list);
}

/* What a sample costs, and what the definitions that it brought do. */
static void text_bytes(const struct facts *f, struct sink *s)
{
	const uint64_t counts[TRACE_PART_COUNT] = {
		[TRACE_PART_SAMPLES] = f->trace->totals.samples,
		[TRACE_PART_STACKS] = prf_reader_stacks(f->trace->reader),
		[TRACE_PART_FRAMES] = prf_reader_frames(f->trace->reader),
	};

	for (unsigned int i = 0; i < TRACE_PART_COUNT; i++) {
		sink_printf(s, "%-16s%" PRIu64 " for %s", "", f->part_bytes[i], part_names[i]);
		if (counts[i])
			sink_printf(s, ", %.2f each", (double)f->part_bytes[i] / (double)counts[i]);
		sink_char(s, '\n');
	}
}

static void text_size(const struct facts *f, struct sink *s)
{
	const struct trace *t = f->trace;

	sink_printf(s, "%-16s%" PRIu64 " bytes in %" PRIu64 " blocks, %" PRIu64 " uncompressed",
		    "size", f->file_bytes, t->blocks, f->raw_bytes);
	if (t->totals.samples)
		sink_printf(s, "; %.2f bytes per sample",
			    (double)f->file_bytes / (double)t->totals.samples);
	sink_char(s, '\n');
	text_bytes(f, s);
	sink_printf(s, "%-16s%zu stacks, %zu frames, %zu objects, %zu tasks\n", "definitions",
		    prf_reader_stacks(t->reader), prf_reader_frames(t->reader),
		    prf_reader_objects(t->reader), prf_reader_tasks(t->reader));
}

struct error *info_text(const struct loaded *l, struct sink *s)
{
	struct facts f;
	struct error *error = gather(&f, l);
	const struct trace *t = f.trace;

	if (error)
		goto out;
	text_line(s, "trace", t->path);
	sink_printf(s, "%-16s%s\n", "complete",
		    prf_reader_complete(t->reader) ? "yes"
		    : prf_reader_ended(t->reader)  ? "no: it is damaged"
						   : "no: there is no end block");
	if (t->damage_count)
		sink_printf(s, "%-16s%" PRIu64 " places, %" PRIu64 " bytes skipped\n", "damaged",
			    t->damage_count, t->skipped_bytes);
	sink_printf(s, "%-16s%" PRIu64 "\n", "samples", t->totals.samples);
	text_losses(&f, s);
	sink_printf(s, "%-16s%.3f s\n", "duration", (double)f.duration_ns / 1e9);
	text_size(&f, s);
	text_events(&f, s);
	text_user_stacks(&f, s);
	text_line(s, "host", trace_metadata(t, "host"));
	text_line(s, "kernel", trace_metadata(t, "kernel"));
	text_line(s, "arch", trace_metadata(t, "arch"));
	text_line(s, "command line", trace_metadata(t, "command_line"));
	text_line(s, "recorder", trace_metadata(t, "recorder"));
	sink_printf(s, "%-16s%u.%u\n", "format", f.major, f.minor);
	text_unnamed(&f, s);
	for (size_t i = 0; i < t->metadata_count; i++)
		if (!has_own_line(t->metadata[i].key)) {
			sink_printable(s, t->metadata[i].key);
			sink_text(s, " = ");
			sink_printable(s, t->metadata[i].value);
			sink_char(s, '\n');
		}
	for (size_t i = 0; i < t->statistic_count; i++) {
		sink_printable(s, t->statistics[i].key);
		sink_printf(s, " = %" PRIu64 "\n", t->statistics[i].value);
	}
out:
	free(f.event_samples);
	return error;
}
