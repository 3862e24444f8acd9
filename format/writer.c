/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/array.h"
#include "common/recent.h"
#include "format/compressor.h"
#include "format/definitions.h"
#include "format/fields.h"
#include "format/prf.h"
#include "format/records.h"
#include "format/samples.h"
#include "format/stacks.h"

#define BLOCK_BYTES (1u << 20)
#define BLOCK_BYTES_MAX (4u << 20) /* with RECORD_MAX well below the limit of a payload */
#define BYTES_PER_SAMPLE 16	   /* a rough guess that decides when a block is full */
#define RECORD_MAX (4u << 20)
#define SEAL_AFTER_NS 500000000 /* what may be lost */
#define SYMBOLS_PER_RECORD 1024

/*
 * How many of the definitions that were used last are known: a trace may be written for days, and
 * what comes again after so many others is defined again. Stacks take 6 MiB, frames 4 MiB and
 * objects 0.6 MiB.
 */
#define RECENT_STACKS 393216
#define RECENT_FRAMES 196608
#define RECENT_OBJECTS 24576
/* A trace with as many definitions as this part of the format's limits should be finished. */
#define NEARLY_FULL(max) ((max) - (max) / 16)

/*
 * From this many tasks on, a definition is shared by all threads of one name and cgroup: a
 * recording of many short processes goes on past the format's limit, in bounded memory.
 */
#define SHARED_MAX 65536
#define TASKS_SHARED (WIRE_TASKS_MAX - SHARED_MAX)

#define DEFINITION_WORDS 4 /* of a hash of 128 bits */

/* Definitions that are records. */
struct definitions {
	struct recent known; /* by a hash of the definition; only those that may come again */
	uint32_t count;
	uint32_t written;      /* how many are in blocks */
	struct buffer waiting; /* records of the others */
};

/* Definitions that are columns. */
struct frames {
	struct recent known;
	uint32_t count;
	struct prf_frame *waiting; /* the last ones, not in blocks yet */
	size_t waiting_count, capacity;
};

struct stacks {
	struct recent known;
	uint32_t turns; /* of `known`, when the paths were put there last */
	uint32_t count;
	struct prf_stack *waiting;
	size_t waiting_count, capacity;
};

/*
 * A stack as it was last written, from the root on: the next one often differs in its leaves only.
 * There are some, by the frames at the root, because threads take turns.
 */
#define PATHS 8
#define PATH_FRAMES 256
#define PATH_ROOTS 8

struct path {
	uint32_t n;
	struct {
		uint32_t frame, stack;
	} steps[PATH_FRAMES];
};

struct prf_writer {
	struct compressor *compressor;
	size_t block_bytes;
	bool finished;
	struct error *error; /* the first one: nothing works after it */

	struct definitions events, objects, tasks;
	struct frames frames;
	struct stacks stacks;
	struct path paths[PATHS];

	struct samples_batch batch;
	struct buffer losses, symbols, names, code, sources, metadata, statistics;
	struct buffer record; /* the one being encoded */
	struct payload payload;

	uint64_t waiting_since; /* 0: nothing waits, or tick() has not seen it yet */
	uint64_t samples;
};

struct error *prf_writer_new(struct prf_writer **writer, const struct prf_writer_options *options)
{
	struct prf_writer *w;
	struct error *error;

	*writer = NULL;
	if (options->level < 0 || options->level > 19)
		return error_new(ERROR_ARGUMENT, "compression level %d", options->level);
	w = calloc(1, sizeof(*w));
	if (!w)
		return error_memory();
	recent_init(&w->events.known, DEFINITION_WORDS, WIRE_EVENTS_MAX);
	recent_init(&w->objects.known, DEFINITION_WORDS,
		    options->recent ? options->recent : RECENT_OBJECTS);
	recent_init(&w->tasks.known, DEFINITION_WORDS, SHARED_MAX);
	recent_init(&w->frames.known, 3, options->recent ? options->recent : RECENT_FRAMES);
	recent_init(&w->stacks.known, 2, options->recent ? options->recent : RECENT_STACKS);
	w->block_bytes = options->block_bytes ? options->block_bytes : BLOCK_BYTES;
	if (options->block_bytes > BLOCK_BYTES_MAX)
		w->block_bytes = BLOCK_BYTES_MAX;
	error = compressor_new(&w->compressor, options);
	if (error) {
		prf_writer_free(w);
		return error;
	}
	*writer = w;
	return NULL;
}

static void definitions_release(struct definitions *d)
{
	recent_release(&d->known);
	buffer_release(&d->waiting);
}

void prf_writer_free(struct prf_writer *w)
{
	if (!w)
		return;
	compressor_free(w->compressor);
	definitions_release(&w->events);
	definitions_release(&w->objects);
	definitions_release(&w->tasks);
	recent_release(&w->frames.known);
	recent_release(&w->stacks.known);
	free(w->frames.waiting);
	free(w->stacks.waiting);
	samples_batch_release(&w->batch);
	buffer_release(&w->losses);
	buffer_release(&w->symbols);
	buffer_release(&w->names);
	buffer_release(&w->code);
	buffer_release(&w->sources);
	buffer_release(&w->metadata);
	buffer_release(&w->statistics);
	buffer_release(&w->record);
	payload_release(&w->payload);
	error_free(w->error);
	free(w);
}

/* -------- sealing: what waits becomes blocks, definitions before what uses them -------- */

static struct error *put_payload(struct prf_writer *w, uint16_t type)
{
	w->payload.type = type;
	return compressor_put(w->compressor, &w->payload);
}

static struct error *seal_definitions(struct prf_writer *w, struct definitions *d, uint16_t type)
{
	if (!d->waiting.size)
		return NULL;
	buffer_uleb(&w->payload.raw, d->written);
	buffer_append(&w->payload.raw, d->waiting.data, d->waiting.size);
	buffer_clear(&d->waiting);
	d->written = d->count;
	return put_payload(w, type);
}

/* How many definitions in columns go into the next block, of so many that are left. */
static size_t for_block(const struct prf_writer *w, size_t left)
{
	size_t limit = w->block_bytes / BYTES_PER_SAMPLE + 1;

	return left < limit ? left : limit;
}

static struct error *seal_frames(struct prf_writer *w)
{
	struct frames *f = &w->frames;
	struct definition_range range = { .defined = w->objects.count,
					  .first_id = f->count - (uint32_t)f->waiting_count };
	struct error *error = NULL;

	for (size_t i = 0; i < f->waiting_count && !error; i += range.n) {
		range.n = for_block(w, f->waiting_count - i);
		frames_encode(&w->payload, f->waiting + i, &range);
		error = put_payload(w, WIRE_FRAMES);
		range.first_id += (uint32_t)range.n;
	}
	f->waiting_count = 0;
	return error;
}

static struct error *seal_stacks(struct prf_writer *w)
{
	struct stacks *s = &w->stacks;
	struct definition_range range = { .defined = w->frames.count,
					  .first_id = s->count - (uint32_t)s->waiting_count };
	struct error *error = NULL;

	for (size_t i = 0; i < s->waiting_count && !error; i += range.n) {
		range.n = for_block(w, s->waiting_count - i);
		stacks_encode(&w->payload, s->waiting + i, &range);
		error = put_payload(w, WIRE_STACKS);
		range.first_id += (uint32_t)range.n;
	}
	s->waiting_count = 0;
	return error;
}

/* `defined`: how many of what the records name there are; NULL: they name nothing. */
static struct error *seal_records(struct prf_writer *w, struct buffer *records, uint16_t type,
				  const size_t *defined)
{
	if (!records->size)
		return NULL;
	if (defined)
		buffer_uleb(&w->payload.raw, *defined);
	buffer_append(&w->payload.raw, records->data, records->size);
	buffer_clear(records);
	return put_payload(w, type);
}

static struct error *seal_samples(struct prf_writer *w)
{
	struct samples_counts counts = { w->events.count, w->tasks.count, w->stacks.count };

	if (!w->batch.n)
		return NULL;
	if (!samples_encode(&w->batch, &counts, &w->payload))
		return error_memory();
	return put_payload(w, WIRE_SAMPLES);
}

/* What the caller did wrong ends nothing; all else does. */
static struct error *fail(struct prf_writer *w, struct error *error)
{
	if (error && !w->error && error->kind != ERROR_ARGUMENT && error->kind != ERROR_LIMIT)
		w->error = error_copy(error);
	return error;
}

static struct error *no_memory(struct prf_writer *w)
{
	return fail(w, error_memory());
}

static struct error *seal(struct prf_writer *w)
{
	size_t objects = w->objects.count, frames = w->frames.count;
	struct error *error = seal_definitions(w, &w->events, WIRE_EVENTS);

	if (!error)
		error = seal_definitions(w, &w->objects, WIRE_OBJECTS);
	if (!error)
		error = seal_definitions(w, &w->tasks, WIRE_TASKS);
	if (!error)
		error = seal_frames(w);
	if (!error)
		error = seal_stacks(w);
	if (!error)
		error = seal_records(w, &w->symbols, WIRE_SYMBOLS, &objects);
	if (!error)
		error = seal_records(w, &w->names, WIRE_NAMES, &frames);
	if (!error)
		error = seal_records(w, &w->code, WIRE_CODE, &objects);
	if (!error)
		error = seal_records(w, &w->sources, WIRE_SOURCES, NULL);
	if (!error)
		error = seal_records(w, &w->metadata, WIRE_METADATA, NULL);
	if (!error)
		error = seal_records(w, &w->statistics, WIRE_STATISTICS, NULL);
	if (!error)
		error = seal_records(w, &w->losses, WIRE_LOSSES, NULL);
	if (!error)
		error = seal_samples(w);
	w->waiting_since = 0;
	return fail(w, error);
}

static bool anything_waits(const struct prf_writer *w)
{
	return w->batch.n || w->events.waiting.size || w->objects.waiting.size ||
	       w->tasks.waiting.size || w->frames.waiting_count || w->stacks.waiting_count ||
	       w->losses.size || w->symbols.size || w->names.size || w->code.size ||
	       w->sources.size || w->metadata.size || w->statistics.size;
}

/* -------- definitions -------- */

static struct error *writable(const struct prf_writer *w)
{
	/* Asked for every sample: nothing is called when all is well. */
	if (w->error)
		return error_copy(w->error);
	if (w->finished)
		return error_new(ERROR_ARGUMENT, "the trace is finished");
	return NULL;
}

/* Whether w->record is whole and fits into a block. */
static struct error *check_record(struct prf_writer *w)
{
	if (!buffer_ok(&w->record))
		return no_memory(w);
	if (w->record.size > RECORD_MAX)
		return error_new(ERROR_LIMIT, "a record of %zu bytes", w->record.size);
	return NULL;
}

/* Takes the definition in w->record as a new one. */
static struct error *define_new(struct prf_writer *w, struct definitions *d, uint32_t *id)
{
	struct error *error = check_record(w);

	if (error)
		return error;
	record_encode(&d->waiting, &w->record);
	if (!buffer_ok(&d->waiting))
		return no_memory(w);
	*id = d->count++;
	return d->waiting.size >= w->block_bytes ? seal(w) : NULL;
}

/*
 * The definition in w->record, unless it is known; no more than `max` in all. Once there are so
 * many, each one that is not known fails.
 */
static struct error *define(struct prf_writer *w, struct definitions *d, uint32_t max, uint32_t *id)
{
	uint32_t key[DEFINITION_WORDS];
	struct error *error = writable(w);
	XXH128_hash_t hash;

	if (!error)
		error = check_record(w);
	if (error)
		return error;
	/* Paths are long: a hash of 128 bits, whose seed is secret, stands for the definition. */
	hash = XXH3_128bits_withSeed(w->record.data, w->record.size, d->known.seed);
	memcpy(key, &hash, sizeof(key));
	_Static_assert(sizeof(key) == sizeof(hash), "the words of the hash");
	*id = recent_put(&d->known, key, d->count < max ? d->count : RECENT_NONE);
	if (*id == RECENT_NONE && d->count >= max)
		return error_new(ERROR_LIMIT, "more than %" PRIu32 " definitions", max);
	if (*id == RECENT_NONE)
		return no_memory(w);
	return *id == d->count ? define_new(w, d, id) : NULL;
}

struct error *prf_writer_event(struct prf_writer *w, const struct prf_event *event, uint32_t *id)
{
	buffer_clear(&w->record);
	event_encode(&w->record, event);
	return define(w, &w->events, WIRE_EVENTS_MAX, id);
}

struct error *prf_writer_object(struct prf_writer *w, const struct prf_object *object, uint32_t *id)
{
	buffer_clear(&w->record);
	object_encode(&w->record, object);
	return define(w, &w->objects, WIRE_OBJECTS_MAX, id);
}

/* All threads of the task's name and cgroup; in the last place, all threads that are left. */
static struct error *define_shared_task(struct prf_writer *w, const struct prf_task *task,
					uint32_t *id)
{
	struct prf_task shared = { .comm = task->comm, .cgroup = task->cgroup };
	struct error *error;

	buffer_clear(&w->record);
	task_encode(&w->record, &shared);
	error = define(w, &w->tasks, WIRE_TASKS_MAX - 1, id);
	if (!error || error->kind != ERROR_LIMIT)
		return error;
	error_free(error);
	buffer_clear(&w->record);
	task_encode(&w->record, &(struct prf_task){ .comm = PRF_TASK_OTHER });
	return define(w, &w->tasks, WIRE_TASKS_MAX, id);
}

struct error *prf_writer_task(struct prf_writer *w, const struct prf_task *task, uint32_t *id)
{
	struct error *error = writable(w);

	if (error)
		return error;
	if (w->tasks.count >= TASKS_SHARED)
		return define_shared_task(w, task, id);
	buffer_clear(&w->record);
	task_encode(&w->record, task);
	return define_new(w, &w->tasks, id);
}

/*
 * Its number, or UINT32_MAX without memory. Flags of a newer version, in a trace that is copied,
 * have no room beside the object: then equal frames are not one.
 */
static uint32_t add_frame(struct frames *f, const struct prf_frame *frame)
{
	uint32_t id = f->count;

	_Static_assert(WIRE_OBJECTS_MAX == 1 << 20, "objects have 20 bits");
	if (frame->flags < 1 << 12)
		id = recent_put(&f->known,
				(const uint32_t[]){
					(uint32_t)frame->offset, (uint32_t)(frame->offset >> 32),
					frame->flags << 20 | (frame->object & 0xfffff) },
				f->count);
	if (id != f->count)
		return id;
	if (!array_reserve(&f->waiting, &f->capacity, f->waiting_count + 1))
		return UINT32_MAX;
	f->waiting[f->waiting_count++] = *frame;
	return f->count++;
}

struct error *prf_writer_frame(struct prf_writer *w, const struct prf_frame *frame, uint32_t *id)
{
	struct error *error = writable(w);

	if (error)
		return error;
	if (frame->flags & PRF_FRAME_END ? frame->object != PRF_NONE
					 : frame->object >= w->objects.count)
		return error_new(ERROR_ARGUMENT, "a frame names object %" PRIu32, frame->object);
	if (w->frames.count >= WIRE_FRAMES_MAX)
		return error_new(ERROR_LIMIT, "more than %u frames", WIRE_FRAMES_MAX);
	*id = add_frame(&w->frames, frame);
	return *id == UINT32_MAX ? no_memory(w) : NULL;
}

/* Why a stack could not be added. */
static struct error *refuse_stack(struct prf_writer *w, const struct prf_stack *stack)
{
	if (stack->frame >= w->frames.count ||
	    (stack->parent != PRF_NONE && stack->parent >= w->stacks.count))
		return error_new(ERROR_ARGUMENT,
				 "a stack names frame %" PRIu32 " and parent %" PRIu32,
				 stack->frame, stack->parent);
	if (w->stacks.count >= WIRE_STACKS_MAX)
		return error_new(ERROR_LIMIT, "more than %u stacks", WIRE_STACKS_MAX);
	return no_memory(w);
}

_Static_assert(WIRE_STACKS_MAX <= RECENT_NUMBERS_MAX && WIRE_FRAMES_MAX <= RECENT_NUMBERS_MAX,
	       "all ids can be known");

/* Its number, or UINT32_MAX. Called for each frame of a new stack, so it has to be short. */
static inline uint32_t add_stack(struct prf_writer *w, struct prf_stack stack)
{
	struct stacks *s = &w->stacks;
	uint32_t id;

	if (stack.frame >= w->frames.count ||
	    (stack.parent != PRF_NONE && stack.parent >= s->count) || s->count >= WIRE_STACKS_MAX)
		return UINT32_MAX;
	id = recent_put(&s->known, (const uint32_t[]){ stack.parent, stack.frame }, s->count);
	if (id != s->count)
		return id;
	if (!array_reserve(&s->waiting, &s->capacity, s->waiting_count + 1))
		return UINT32_MAX;
	s->waiting[s->waiting_count++] = stack;
	return s->count++;
}

struct error *prf_writer_stack(struct prf_writer *w, const struct prf_stack *stack, uint32_t *id)
{
	struct error *error = writable(w);

	if (error)
		return error;
	*id = add_stack(w, *stack);
	return *id == UINT32_MAX ? refuse_stack(w, stack) : NULL;
}

static struct path *path_of(struct prf_writer *w, const uint32_t *frames, size_t n)
{
	uint32_t hash = 0;

	for (size_t i = 0; i < PATH_ROOTS && i < n; i++)
		hash = (hash ^ frames[n - 1 - i]) * 0x9e3779b1U;
	return &w->paths[hash >> 16 & (PATHS - 1)];
}

/*
 * Stacks are taken from the paths without asking for them. Those that are there are among the ones
 * that were used last.
 */
static void refresh_paths(struct prf_writer *w)
{
	struct recent *known = &w->stacks.known;

	for (size_t i = 0; i < PATHS; i++) {
		const struct path *path = &w->paths[i];
		uint32_t parent = PRF_NONE;

		for (uint32_t j = 0; j < path->n; parent = path->steps[j++].stack)
			/* Without memory, it is defined again later. */
			recent_put(known, (const uint32_t[]){ parent, path->steps[j].frame },
				   path->steps[j].stack);
	}
	w->stacks.turns = known->turns;
}

struct error *prf_writer_frames(struct prf_writer *w, const uint32_t *frames, size_t n,
				uint32_t *stack)
{
	struct path *path = path_of(w, frames, n);
	struct prf_stack next = { .parent = PRF_NONE };
	struct error *error = writable(w);
	size_t same = 0;

	while (same < n && same < path->n && path->steps[same].frame == frames[n - 1 - same])
		next.parent = path->steps[same++].stack;
	for (size_t i = same; i < n && !error; i++) {
		next.frame = frames[n - 1 - i];
		*stack = add_stack(w, next);
		if (*stack == UINT32_MAX)
			error = refuse_stack(w, &next);
		next.parent = *stack;
		if (error || i >= PATH_FRAMES)
			continue;
		path->steps[i].frame = next.frame;
		path->steps[i].stack = next.parent;
		path->n = (uint32_t)i + 1;
	}
	if (w->stacks.turns != w->stacks.known.turns)
		refresh_paths(w);
	*stack = error ? PRF_NONE : next.parent;
	return error;
}

/* -------- what is recorded -------- */

struct error *prf_writer_sample(struct prf_writer *w, const struct prf_sample *sample)
{
	struct error *error = writable(w);

	if (error)
		return error;
	if (sample->event >= w->events.count || sample->task >= w->tasks.count ||
	    (sample->stack != PRF_NONE && sample->stack >= w->stacks.count) ||
	    (sample->waker != PRF_NONE &&
	     (sample->waker >= w->stacks.count ||
	      (sample->waker_task != PRF_NONE && sample->waker_task >= w->tasks.count))))
		return error_new(ERROR_ARGUMENT, "a sample names what is not defined");
	if (samples_batch_full(&w->batch))
		error = seal(w);
	if (error)
		return error;
	if (!samples_batch_add(&w->batch, sample))
		return no_memory(w);
	w->samples++;
	return w->batch.n * BYTES_PER_SAMPLE >= w->block_bytes ? seal(w) : NULL;
}

/* The record in w->record joins those that wait. */
static struct error *append_record(struct prf_writer *w, struct buffer *waiting)
{
	struct error *error = writable(w);

	if (!error)
		error = check_record(w);
	if (error)
		return error;
	record_encode(waiting, &w->record);
	if (!buffer_ok(waiting))
		return no_memory(w);
	return waiting->size >= w->block_bytes ? seal(w) : NULL;
}

struct error *prf_writer_loss(struct prf_writer *w, const struct prf_loss *loss)
{
	buffer_clear(&w->record);
	loss_encode(&w->record, loss);
	return append_record(w, &w->losses);
}

struct error *prf_writer_symbols(struct prf_writer *w, uint32_t object,
				 const struct prf_symbol *symbols, size_t n)
{
	struct error *error = writable(w);

	if (error)
		return error;
	if (object >= w->objects.count)
		return error_new(ERROR_ARGUMENT, "symbols of object %" PRIu32, object);
	for (size_t i = 1; i < n; i++)
		if (symbols[i].start < symbols[i - 1].start)
			return error_new(ERROR_ARGUMENT, "symbols are not sorted");
	while (n && !error) {
		size_t some = n < SYMBOLS_PER_RECORD ? n : SYMBOLS_PER_RECORD;

		buffer_clear(&w->record);
		symbols_encode(&w->record, object, symbols, some);
		/* Names of enormous length go one by one. */
		if (w->record.size > RECORD_MAX) {
			some = 1;
			buffer_clear(&w->record);
			symbols_encode(&w->record, object, symbols, some);
		}
		error = append_record(w, &w->symbols);
		symbols += some;
		n -= some;
	}
	return error;
}

struct error *prf_writer_names(struct prf_writer *w, uint32_t frame, const struct prf_place *places,
			       size_t n)
{
	struct error *error = writable(w);

	if (error)
		return error;
	if (frame >= w->frames.count)
		return error_new(ERROR_ARGUMENT, "names of frame %" PRIu32, frame);
	buffer_clear(&w->record);
	names_encode(&w->record, frame, places, n);
	return append_record(w, &w->names);
}

static bool code_is_sorted(const struct prf_code *code)
{
	for (size_t i = 1; i < code->line_count; i++)
		if (code->lines[i].address < code->lines[i - 1].address)
			return false;
	for (size_t i = 1; i < code->symbol_count; i++)
		if (code->symbols[i].address < code->symbols[i - 1].address)
			return false;
	return true;
}

struct error *prf_writer_code(struct prf_writer *w, const struct prf_code *code)
{
	struct error *error = writable(w);

	if (error)
		return error;
	if (code->object >= w->objects.count)
		return error_new(ERROR_ARGUMENT, "code of object %" PRIu32, code->object);
	if (!code_is_sorted(code))
		return error_new(ERROR_ARGUMENT, "lines or symbols of code are not sorted");
	buffer_clear(&w->record);
	code_encode(&w->record, code);
	return append_record(w, &w->code);
}

struct error *prf_writer_source(struct prf_writer *w, const struct prf_source *source)
{
	buffer_clear(&w->record);
	source_encode(&w->record, source);
	return append_record(w, &w->sources);
}

struct error *prf_writer_metadata(struct prf_writer *w, const char *key, const char *value)
{
	buffer_clear(&w->record);
	metadata_encode(&w->record, key, value);
	return append_record(w, &w->metadata);
}

struct error *prf_writer_statistic(struct prf_writer *w, const char *key, uint64_t value)
{
	buffer_clear(&w->record);
	statistic_encode(&w->record, key, value);
	return append_record(w, &w->statistics);
}

/* -------- time, end and totals -------- */

struct error *prf_writer_tick(struct prf_writer *w, uint64_t now_ns, uint64_t pause_ns)
{
	struct error *error = writable(w);

	if (error || !anything_waits(w))
		return error;
	if (!w->waiting_since) {
		w->waiting_since = now_ns;
		if (w->batch.n && w->batch.time_ns[0] && w->batch.time_ns[0] < now_ns)
			w->waiting_since = w->batch.time_ns[0];
	}
	return now_ns - w->waiting_since + pause_ns >= SEAL_AFTER_NS ? seal(w) : NULL;
}

struct error *prf_writer_flush(struct prf_writer *w)
{
	struct error *error = writable(w);

	return error ? error : seal(w);
}

struct error *prf_writer_finish(struct prf_writer *w)
{
	struct error *error = prf_writer_flush(w);

	if (!error)
		error = fail(w, compressor_finish(w->compressor));
	w->finished = true;
	return error;
}

bool prf_writer_nearly_full(const struct prf_writer *w)
{
	return w->objects.count >= NEARLY_FULL(WIRE_OBJECTS_MAX) ||
	       w->frames.count >= NEARLY_FULL(WIRE_FRAMES_MAX) ||
	       w->stacks.count >= NEARLY_FULL(WIRE_STACKS_MAX);
}

void prf_writer_totals(const struct prf_writer *w, struct prf_writer_totals *totals)
{
	*totals = (struct prf_writer_totals){
		.samples = w->samples,
		.stacks = w->stacks.count,
		.frames = w->frames.count,
		.objects = w->objects.count,
		.tasks = w->tasks.count,
	};
	compressor_totals(w->compressor, &totals->file_bytes, &totals->raw_bytes);
}

const void *prf_writer_memory(const struct prf_writer *w, size_t *size)
{
	/* What was written before an error is there all the same. */
	error_free(compressor_drain(w->compressor));
	return compressor_memory(w->compressor, size);
}
