/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/views/pprof.h"

#include "report/output/protobuf.h"
#include "common/fuzzing.h"
#include "common/utf8.h"
#include "report/tables/functions.h"

#include <ctype.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * In all stacks together. Numbers of locations take a byte or two each, and no reader takes a
 * message of more than 2 GiB.
 */
#define FRAMES_MAX (UINT64_C(1) << 30)

/* Fields of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STRING, LABEL_NUMBER };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_OFFSET,
	MAPPING_FILE,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILES,
	MAPPING_HAS_LINES,
	MAPPING_HAS_INLINES
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };

/* Of a node that a location begins at. */
struct pprof_place {
	uint32_t location; /* counted from 1; 0: not yet */
	uint32_t caller;   /* the node where the next location begins */
};

struct pprof {
	const struct profile *profile;
	struct buffer out; /* the profile message */
	struct buffer message, part, packed;
	struct map strings;   /* text to its number in the string table */
	struct map locations; /* runs of frames to the location's number */
	struct functions functions;
	uint32_t *function_of; /* per frame */
	uint32_t *mapping_of;  /* per object, counted from 1; 0: none */
	uint32_t mapping_count;
	struct pprof_place *places; /* per node */
	uint8_t *ids;		    /* room for the locations of a sample */
	struct buffer text;
};

static uint64_t pprof_string(struct pprof *pp, const char *text)
{
	uint64_t *entry;
	bool added;

	buffer_clear(&pp->text);
	utf8_append(&pp->text, text);
	text = buffer_string(&pp->text);
	entry = buffer_ok(&pp->text) ? map_put(&pp->strings, text, pp->text.size, &added) : NULL;
	if (!entry) {
		pp->out.failed = true;
		return 0;
	}
	if (added) {
		*entry = pp->strings.count - 1;
		protobuf_bytes(&pp->out, PROFILE_STRING, pp->text.data, pp->text.size);
	}
	return *entry;
}

/*
 * Names of events have other characters. Pyroscope refuses a type with a dash, Parca one that is no
 * identifier.
 */
static uint64_t value_string(struct pprof *pp, const char *text)
{
	buffer_clear(&pp->packed);
	for (; *text; text++)
		buffer_u8(&pp->packed, isalnum((unsigned char)*text) ? (uint8_t)*text : '_');
	return pprof_string(pp, buffer_string(&pp->packed));
}

static void value_type(struct pprof *pp, unsigned int field, const char *type, const char *unit)
{
	uint64_t type_id = value_string(pp, type), unit_id = value_string(pp, unit);

	buffer_clear(&pp->message);
	protobuf_number(&pp->message, VALUE_TYPE, type_id);
	protobuf_number(&pp->message, VALUE_UNIT, unit_id);
	protobuf_message(&pp->out, field, &pp->message);
}

/* -------- what a sample is worth, beside itself -------- */

enum worth { WORTH_NOTHING, WORTH_PERIOD, WORTH_TIME, WORTH_WEIGHT };

/* Only these matter: of p->events there may be no samples here, as of waits beside CPU time. */
static const struct profile_event *event_of(const struct profile *p, size_t group)
{
	return &p->events[p->groups[group].event];
}

static enum worth pprof_worth(const struct profile *p)
{
	if (p->value == PROFILE_TIME)
		return WORTH_TIME;
	if (p->value == PROFILE_WEIGHT)
		return WORTH_WEIGHT;
	for (size_t i = 0; i < p->group_count; i++)
		if (!p->groups[i].ns_per_sample)
			return WORTH_NOTHING;
	return p->group_count ? WORTH_PERIOD : WORTH_NOTHING;
}

static uint64_t entry_worth(const struct profile *p, enum worth worth,
			    const struct profile_entry *e)
{
	if (worth == WORTH_TIME)
		return e->value * 1000; /* from us */
	if (worth == WORTH_WEIGHT)
		return e->value;
	return e->samples * p->groups[e->group].ns_per_sample;
}

static const char *worth_name(const struct profile *p, enum worth worth)
{
	enum prf_event_kind kind;

	if (p->latency)
		return "latency";
	if (!p->group_count)
		return "time";
	kind = event_of(p, 0)->kind;
	for (size_t i = 1; i < p->group_count; i++)
		if (event_of(p, i)->kind != kind)
			return worth == WORTH_WEIGHT ? "weight" : "wall";
	if (worth == WORTH_WEIGHT)
		return event_of(p, 0)->name;
	return kind == PRF_EVENT_OFF_CPU     ? "off-cpu"
	       : kind == PRF_EVENT_PREEMPTED ? "preempted"
					     : "cpu";
}

static void pprof_types(struct pprof *pp, enum worth worth)
{
	const struct profile *p = pp->profile;
	const uint64_t interval_ns = profile_interval_ns(p);

	value_type(pp, PROFILE_SAMPLE_TYPE, "samples", "count");
	if (worth == WORTH_WEIGHT)
		value_type(pp, PROFILE_SAMPLE_TYPE, worth_name(p, worth), p->unit);
	else if (worth != WORTH_NOTHING)
		value_type(pp, PROFILE_SAMPLE_TYPE, worth_name(p, worth), "nanoseconds");
	if (interval_ns) {
		value_type(pp, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
		protobuf_number(&pp->out, PROFILE_PERIOD, interval_ns);
	}
}

/* -------- places -------- */

static void pprof_mapping(struct pprof *pp, uint32_t object, uint64_t limit, bool inlines)
{
	const struct prf_object *recorded = pp->profile->objects[object].recorded;
	char build_id[2 * PRF_BUILD_ID_MAX + 1] = "";
	uint64_t file = pprof_string(pp, recorded->kind == PRF_OBJECT_FILE
						 ? recorded->path
						 : pp->profile->objects[object].name);
	uint64_t id;

	for (unsigned int i = 0; i < recorded->build_id_size && i < PRF_BUILD_ID_MAX; i++)
		snprintf(build_id + 2 * i, 3, "%02x", recorded->build_id[i]);
	id = pprof_string(pp, build_id);
	pp->mapping_of[object] = ++pp->mapping_count; /* Parca takes ids without gaps only */
	buffer_clear(&pp->message);
	protobuf_number(&pp->message, MAPPING_ID, pp->mapping_of[object]);
	protobuf_number(&pp->message, MAPPING_LIMIT, limit);
	protobuf_number(&pp->message, MAPPING_FILE, file);
	protobuf_number(&pp->message, MAPPING_BUILD_ID, id);
	/* pprof would look for the binary and ask addr2line for each address if none was set. */
	protobuf_number(&pp->message, MAPPING_HAS_FUNCTIONS, 1);
	protobuf_number(&pp->message, MAPPING_HAS_FILES, 1);
	protobuf_number(&pp->message, MAPPING_HAS_LINES, 1);
	protobuf_number(&pp->message, MAPPING_HAS_INLINES, inlines);
	protobuf_message(&pp->out, PROFILE_MAPPING, &pp->message);
}

static bool is_program(const struct profile *p, uint32_t object)
{
	const struct prf_object *o = object == PRF_NONE ? NULL : p->objects[object].recorded;

	return o && o->kind == PRF_OBJECT_FILE && !strstr(p->objects[object].name, ".so");
}

/*
 * The program that the outermost frames of most samples are in, as far as they are in no library;
 * PRF_NONE: none. pprof takes the first mapping for the program.
 */
static uint32_t main_program(const struct profile *p)
{
	uint32_t *program_of = calloc(p->node_count + 1, sizeof(*program_of)), best = PRF_NONE;
	uint64_t *samples = calloc(p->object_count + 1, sizeof(*samples));

	/* Parents come before their children. */
	for (size_t i = 0; program_of && i < p->node_count; i++) {
		uint32_t parent = p->nodes[i].parent, object = p->frames[p->nodes[i].frame].object;

		program_of[i] = parent == PRF_NONE ? PRF_NONE : program_of[parent];
		if (program_of[i] == PRF_NONE && is_program(p, object))
			program_of[i] = object;
	}
	for (size_t i = 0; program_of && samples && i < p->entry_count; i++) {
		uint32_t node = p->entries[i].node;
		uint32_t program = node == PRF_NONE ? PRF_NONE : program_of[node];

		if (program == PRF_NONE)
			continue;
		samples[program] += p->entries[i].samples;
		if (best == PRF_NONE || samples[program] > samples[best])
			best = program;
	}
	free(program_of);
	free(samples);
	return best;
}

static void pprof_mappings(struct pprof *pp)
{
	const struct profile *p = pp->profile;
	const uint32_t program = main_program(p);
	uint64_t *limits = calloc(p->object_count + 1, sizeof(*limits));
	bool *inlines = calloc(p->object_count + 1, sizeof(*inlines));

	for (size_t i = 0; limits && inlines && i < p->frame_count; i++) {
		const struct profile_frame *frame = &p->frames[i];

		if (frame->object == PRF_NONE)
			continue;
		if (frame->offset >= limits[frame->object])
			limits[frame->object] = frame->offset + 1 ? frame->offset + 1
								  : frame->offset;
		inlines[frame->object] |= frame->inlined;
	}
	if (limits && inlines && program != PRF_NONE)
		pprof_mapping(pp, program, limits[program], inlines[program]);
	for (uint32_t i = 0; limits && inlines && i < p->object_count; i++)
		if (limits[i] && i != program)
			pprof_mapping(pp, i, limits[i], inlines[i]);
	if (!limits || !inlines)
		pp->out.failed = true;
	free(limits);
	free(inlines);
}

static void pprof_functions(struct pprof *pp)
{
	for (size_t i = 0; i < pp->functions.count; i++) {
		const struct function *function = &pp->functions.list[i];
		uint64_t name = pprof_string(pp, function->name);
		uint64_t system_name = pprof_string(pp, function->linkage_name);
		uint64_t file = pprof_string(pp, function->file);

		buffer_clear(&pp->message);
		protobuf_number(&pp->message, FUNCTION_ID, i + 1);
		protobuf_number(&pp->message, FUNCTION_NAME, name);
		protobuf_number(&pp->message, FUNCTION_SYSTEM_NAME, system_name);
		protobuf_number(&pp->message, FUNCTION_FILE, file);
		protobuf_number(&pp->message, FUNCTION_LINE, function->line);
		protobuf_message(&pp->out, PROFILE_FUNCTION, &pp->message);
	}
}

/* Writes the location of the frames in `packed`, innermost first. */
static void pprof_location(struct pprof *pp, uint64_t id)
{
	const struct profile *p = pp->profile;
	const uint32_t *frames = (const uint32_t *)pp->packed.data;
	size_t n = pp->packed.size / sizeof(*frames);
	const struct profile_frame *outer = &p->frames[frames[n - 1]];

	buffer_clear(&pp->message);
	protobuf_number(&pp->message, LOCATION_ID, id);
	if (outer->object != PRF_NONE)
		protobuf_number(&pp->message, LOCATION_MAPPING, pp->mapping_of[outer->object]);
	protobuf_number(&pp->message, LOCATION_ADDRESS, outer->offset);
	for (size_t i = 0; i < n; i++) {
		buffer_clear(&pp->part);
		protobuf_number(&pp->part, LINE_FUNCTION, pp->function_of[frames[i]] + UINT64_C(1));
		protobuf_number(&pp->part, LINE_LINE, p->frames[frames[i]].line);
		protobuf_message(&pp->message, LOCATION_LINE, &pp->part);
	}
	protobuf_message(&pp->out, PROFILE_LOCATION, &pp->message);
}

/* Finds the location that begins at a node: its inlined frames and the function that holds them. */
static void pprof_locate(struct pprof *pp, uint32_t node)
{
	const struct profile *p = pp->profile;
	uint32_t at = node;
	uint64_t *entry;
	bool inlined, added;

	buffer_clear(&pp->packed);
	do {
		inlined = p->frames[p->nodes[at].frame].inlined;
		buffer_append(&pp->packed, &p->nodes[at].frame, sizeof(uint32_t));
		at = p->nodes[at].parent;
	} while (inlined && at != PRF_NONE);
	entry = buffer_ok(&pp->packed)
			? map_put(&pp->locations, pp->packed.data, pp->packed.size, &added)
			: NULL;
	if (!entry) {
		pp->out.failed = true;
		return;
	}
	if (added) {
		*entry = pp->locations.count;
		pprof_location(pp, *entry);
	}
	pp->places[node] = (struct pprof_place){ (uint32_t)*entry, at };
}

/* -------- samples -------- */

static void label_text(struct pprof *pp, const char *key, const char *text)
{
	uint64_t key_id = pprof_string(pp, key), text_id = pprof_string(pp, text);

	buffer_clear(&pp->part);
	protobuf_number(&pp->part, LABEL_KEY, key_id);
	protobuf_number(&pp->part, LABEL_STRING, text_id);
	protobuf_message(&pp->message, SAMPLE_LABEL, &pp->part);
}

static void label_number(struct pprof *pp, const char *key, uint64_t number)
{
	uint64_t key_id = pprof_string(pp, key);

	buffer_clear(&pp->part);
	protobuf_number(&pp->part, LABEL_KEY, key_id);
	protobuf_number(&pp->part, LABEL_NUMBER, number);
	protobuf_message(&pp->message, SAMPLE_LABEL, &pp->part);
}

/* The labels are the same for all samples of a group, so they are made once, in `labels`. */
static void pprof_labels(struct pprof *pp, const struct profile_group *group, struct buffer *labels)
{
	const struct profile *p = pp->profile;

	buffer_clear(&pp->message);
	if (p->dimensions & PROFILE_BY_COMM)
		label_text(pp, "comm", group->comm);
	if (p->dimensions & PROFILE_BY_PID)
		label_number(pp, "pid", group->pid);
	if (p->dimensions & PROFILE_BY_TID)
		label_number(pp, "tid", group->tid);
	if (p->dimensions & PROFILE_BY_CPU)
		label_number(pp, "cpu", group->cpu);
	if (p->dimensions & PROFILE_BY_CGROUP)
		label_text(pp, "cgroup", group->cgroup);
	if (p->event_count > 1 && p->dimensions & PROFILE_BY_EVENT)
		label_text(pp, "event", p->events[group->event].name);
	if (p->trace_count > 1 && p->dimensions & PROFILE_BY_TRACE)
		label_text(pp, "trace", p->traces[group->trace].path);
	for (size_t i = 0; i < PROFILE_NOTES && p->note_keys[i]; i++)
		label_text(pp, p->note_keys[i], p->traces[group->trace].notes[i]);
	buffer_clear(labels);
	buffer_append(labels, pp->message.data, pp->message.size);
}

/* There are many: each goes straight into the profile. Lists have their length before them. */
static void pprof_sample(struct pprof *pp, const struct profile_entry *entry, enum worth worth,
			 const struct buffer *labels)
{
	uint8_t values[2 * PROTOBUF_NUMBER_MAX], lengths[PROTOBUF_NUMBER_MAX];
	uint8_t *values_end = protobuf_put(values, entry->samples), *end = pp->ids, *at;
	size_t ids_size, values_size, size;

	for (uint32_t node = entry->node; node != PRF_NONE; node = pp->places[node].caller) {
		if (!pp->places[node].location)
			pprof_locate(pp, node);
		if (pp->out.failed)
			return;
		end = protobuf_put(end, pp->places[node].location);
	}
	if (worth != WORTH_NOTHING)
		values_end = protobuf_put(values_end, entry_worth(pp->profile, worth, entry));
	ids_size = (size_t)(end - pp->ids);
	values_size = (size_t)(values_end - values);
	/* A byte each: the numbers of both lists, and the length of the values. */
	size = 3 + (size_t)(protobuf_put(lengths, ids_size) - lengths) + ids_size + values_size +
	       labels->size;
	at = buffer_extend(&pp->out, size + 1 + PROTOBUF_NUMBER_MAX);
	if (!at)
		return;
	at = protobuf_put(at, PROFILE_SAMPLE << 3 | 2);
	at = protobuf_put(at, size);
	at = protobuf_put_bytes(at, SAMPLE_LOCATION, pp->ids, ids_size);
	at = protobuf_put_bytes(at, SAMPLE_VALUE, values, values_size);
	if (labels->size)
		at = mempcpy(at, labels->data, labels->size);
	pp->out.size = (size_t)(at - pp->out.data);
}

static void pprof_samples(struct pprof *pp, enum worth worth)
{
	const struct profile *p = pp->profile;
	struct buffer labels = { 0 };

	for (size_t i = 0; i < p->entry_count && !pp->out.failed; i++) {
		if (!i || p->entries[i].group != p->entries[i - 1].group)
			pprof_labels(pp, &p->groups[p->entries[i].group], &labels);
		pprof_sample(pp, &p->entries[i], worth, &labels);
	}
	pp->out.failed |= labels.failed;
	buffer_release(&labels);
}

static void pprof_comment(struct pprof *pp, const char *what, const char *text)
{
	uint64_t id;

	if (!*text)
		return;
	buffer_clear(&pp->packed);
	buffer_printf(&pp->packed, "%s: %s", what, text);
	id = pprof_string(pp, buffer_string(&pp->packed));
	protobuf_number(&pp->out, PROFILE_COMMENT, id);
}

static void pprof_origin(struct pprof *pp)
{
	const struct profile *p = pp->profile;
	char lost[32] = "";

	if (p->trace_count) {
		const struct profile_trace *trace = &p->traces[0];

		protobuf_number(&pp->out, PROFILE_TIME_NANOS, trace->realtime_ns);
		protobuf_number(&pp->out, PROFILE_DURATION_NANOS, trace->duration_ns);
		pprof_comment(pp, "host", trace->host);
		pprof_comment(pp, "kernel", trace->kernel);
		pprof_comment(pp, "command line", trace->command_line);
	}
	if (p->lost)
		snprintf(lost, sizeof(lost), "%llu", (unsigned long long)p->lost);
	pprof_comment(pp, "lost samples", lost);
}

/*
 * gzip at level 1: higher ones take longer than everything else here together. A fuzzer need not
 * wait for a library's compression.
 */
#define GZIP_LEVEL (FUZZING ? 0 : 1)

static struct error *pprof_write(const struct buffer *message, struct sink *s)
{
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(GZIP_LEVEL);
	size_t size = libdeflate_gzip_compress_bound(compressor, message->size);
	uint8_t *packed = compressor ? malloc(size) : NULL;

	size = packed ? libdeflate_gzip_compress(compressor, message->data, message->size, packed,
						 size)
		      : 0;
	if (size)
		sink_bytes(s, packed, size);
	free(packed);
	libdeflate_free_compressor(compressor);
	return size ? NULL : error_memory();
}

static struct error *check_frames(const struct profile *p)
{
	uint64_t frames = 0;

	for (size_t i = 0; i < p->entry_count; i++)
		if (p->entries[i].node != PRF_NONE)
			frames += p->nodes[p->entries[i].node].depth;
	return frames <= FRAMES_MAX
		       ? NULL
		       : error_new(ERROR_LIMIT,
				   "stacks of %" PRIu64 " frames in all, of which a pprof profile "
				   "holds %" PRIu64,
				   frames, FRAMES_MAX);
}

static struct error *pprof_build(struct pprof *pp)
{
	const struct profile *p = pp->profile;
	enum worth worth = pprof_worth(p);
	struct error *error = check_frames(p);

	if (error)
		return error;
	pp->places = calloc(p->node_count + 1, sizeof(*pp->places));
	pp->ids = malloc((profile_depth(p) + 1) * PROTOBUF_NUMBER_MAX);
	pp->mapping_of = calloc(p->object_count + 1, sizeof(*pp->mapping_of));
	if (!pp->places || !pp->ids || !pp->mapping_of)
		return error_memory();
	error = functions_add(&pp->functions, p, &pp->function_of);
	if (error)
		return error;
	pprof_string(pp, "");
	pprof_types(pp, worth);
	pprof_origin(pp);
	pprof_mappings(pp);
	pprof_functions(pp);
	pprof_samples(pp, worth);
	return pp->out.failed || pp->message.failed || pp->part.failed || pp->packed.failed
		       ? error_memory()
		       : NULL;
}

struct error *pprof_render(const struct profile *p, const struct view_options *o, struct sink *s)
{
	struct pprof pp = {
		.profile = p,
		.functions = { .keys = FUNCTIONS_BY_OBJECT | FUNCTIONS_BY_FILE },
	};
	struct error *error = pprof_build(&pp);

	if (!error)
		error = pprof_write(&pp.out, s);
	buffer_release(&pp.out);
	buffer_release(&pp.message);
	buffer_release(&pp.part);
	buffer_release(&pp.packed);
	buffer_release(&pp.text);
	map_release(&pp.strings);
	map_release(&pp.locations);
	functions_release(&pp.functions);
	free(pp.function_of);
	free(pp.mapping_of);
	free(pp.places);
	free(pp.ids);
	return error;
}
