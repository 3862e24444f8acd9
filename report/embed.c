/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/embed.h"

#include "common/array.h"
#include "common/message.h"
#include "report/output/progress.h"
#include "report/unnamed.h"

#include <stdlib.h>
#include <string.h>

#define LEVEL 6

/*
 * Numbers in the copy, indexed by numbers in the trace. They differ where the trace defines
 * something twice, as for definitions that were lost.
 */
struct numbers {
	uint32_t *list;
	size_t n, capacity;
};

struct copy {
	struct prf_reader *reader;
	struct prf_writer *writer;
	struct symbolizer *symbolizer;
	struct numbers events, objects, tasks, frames, stacks;
	struct numbers symbols; /* the symbolizer's number of each object */
	struct numbers queries; /* of each frame; PRF_NONE: there is nothing to look up */
};

static void copy_release(struct copy *c)
{
	struct numbers *all[] = { &c->events, &c->objects, &c->tasks,  &c->frames,
				  &c->stacks, &c->symbols, &c->queries };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		free(all[i]->list);
	symbolizer_free(c->symbolizer);
	prf_writer_free(c->writer);
	prf_reader_free(c->reader);
}

static struct error *numbers_add(struct numbers *numbers, uint32_t number)
{
	if (!array_reserve(&numbers->list, &numbers->capacity, numbers->n + 1))
		return error_memory();
	numbers->list[numbers->n++] = number;
	return NULL;
}

static uint32_t mapped(const struct numbers *numbers, uint32_t number)
{
	return number < numbers->n ? numbers->list[number] : PRF_NONE;
}

/* -------- definitions -------- */

static struct error *copy_objects(struct copy *c)
{
	while (c->objects.n < prf_reader_objects(c->reader)) {
		const struct prf_object *object = prf_reader_object(c->reader,
								    (uint32_t)c->objects.n);
		uint32_t id, symbols;
		struct error *error = prf_writer_object(c->writer, object, &id);

		if (!error)
			error = symbolizer_add_object(c->symbolizer, object, &symbols);
		if (!error)
			error = numbers_add(&c->symbols, symbols);
		if (!error)
			error = numbers_add(&c->objects, id);
		if (error)
			return error;
	}
	return NULL;
}

static struct error *copy_frames(struct copy *c)
{
	const struct prf_frame *frames = prf_reader_all_frames(c->reader);

	while (c->frames.n < prf_reader_frames(c->reader)) {
		struct prf_frame frame = frames[c->frames.n];
		uint32_t symbols = mapped(&c->symbols, frame.object), id, query = PRF_NONE;
		struct error *error = NULL;

		if (frame.object != PRF_NONE && !(frame.flags & PRF_FRAME_END))
			error = symbolizer_add_query(c->symbolizer, symbols, frame.offset,
						     frame.flags & PRF_FRAME_EXACT, &query);
		if (frame.object != PRF_NONE)
			frame.object = mapped(&c->objects, frame.object);
		if (!error)
			error = prf_writer_frame(c->writer, &frame, &id);
		if (!error)
			error = numbers_add(&c->queries, query);
		if (!error)
			error = numbers_add(&c->frames, id);
		if (error)
			return error;
	}
	return NULL;
}

/* Copies what was defined since the last call. */
static struct error *copy_definitions(struct copy *c)
{
	struct prf_reader *r = c->reader;
	struct error *error = copy_objects(c);
	uint32_t id;

	if (!error)
		error = copy_frames(c);
	while (!error && c->events.n < prf_reader_events(r)) {
		error = prf_writer_event(c->writer, prf_reader_event(r, (uint32_t)c->events.n),
					 &id);
		if (!error)
			error = numbers_add(&c->events, id);
	}
	while (!error && c->tasks.n < prf_reader_tasks(r)) {
		error = prf_writer_task(c->writer, prf_reader_task(r, (uint32_t)c->tasks.n), &id);
		if (!error)
			error = numbers_add(&c->tasks, id);
	}
	while (!error && c->stacks.n < prf_reader_stacks(r)) {
		struct prf_stack stack = prf_reader_all_stacks(r)[c->stacks.n];

		stack.parent = mapped(&c->stacks, stack.parent);
		stack.frame = mapped(&c->frames, stack.frame);
		error = prf_writer_stack(c->writer, &stack, &id);
		if (!error)
			error = numbers_add(&c->stacks, id);
	}
	return error;
}

/* -------- records -------- */

static struct error *copy_samples(struct copy *c, const struct prf_samples *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct prf_sample sample = {
			.time_ns = s->time_ns[i],
			.task = mapped(&c->tasks, s->task[i]),
			.event = mapped(&c->events, s->event[i]),
			.stack = mapped(&c->stacks, s->stack[i]),
			.waker = mapped(&c->stacks, s->waker[i]),
			.waker_task = mapped(&c->tasks, s->waker_task[i]),
			.cpu = s->cpu[i],
			.weight = s->weight[i],
		};
		struct error *error = prf_writer_sample(c->writer, &sample);

		if (error)
			return error;
	}
	return NULL;
}

static struct error *copy_symbols(struct copy *c, const struct prf_record *record)
{
	uint32_t object = record->symbols.object;
	struct error *error;

	if (object == PRF_NONE)
		return NULL;
	error = symbolizer_add_symbols(c->symbolizer, mapped(&c->symbols, object),
				       record->symbols.symbols, record->symbols.n);
	return error ? error
		     : prf_writer_symbols(c->writer, mapped(&c->objects, object),
					  record->symbols.symbols, record->symbols.n);
}

static struct error *copy_code(struct copy *c, const struct prf_code *code)
{
	struct prf_code copy = *code;

	copy.object = mapped(&c->objects, code->object);
	return copy.object == PRF_NONE ? NULL : prf_writer_code(c->writer, &copy);
}

static struct error *copy_record(struct copy *c, const struct prf_record *record,
				 struct embed_result *result)
{
	uint32_t query;

	switch (record->type) {
	case PRF_RECORD_SAMPLES: return copy_samples(c, &record->samples);
	case PRF_RECORD_LOSS: return prf_writer_loss(c->writer, &record->loss);
	case PRF_RECORD_SYMBOLS: return copy_symbols(c, record);
	case PRF_RECORD_NAMES:
		/*
		 * The names that the trace has are kept, and are written with those that are found.
		 */
		query = mapped(&c->queries, record->names.frame);
		if (query == PRF_NONE)
			return NULL;
		return symbolizer_add_names(c->symbolizer, query, record->names.places,
					    record->names.n);
	case PRF_RECORD_CODE: result->had_code = true; return copy_code(c, &record->code);
	case PRF_RECORD_SOURCE: return prf_writer_source(c->writer, &record->source);
	case PRF_RECORD_METADATA:
		return prf_writer_metadata(c->writer, record->metadata.key, record->metadata.value);
	case PRF_RECORD_STATISTIC:
		return prf_writer_statistic(c->writer, record->statistic.key,
					    record->statistic.value);
	case PRF_RECORD_DAMAGE: result->damages++; return NULL;
	case PRF_RECORD_END: return NULL;
	}
	return NULL;
}

/* -------- names -------- */

static struct error *write_names(struct copy *c, uint32_t frame,
				 const struct symbolizer_place *places, size_t n)
{
	struct prf_place *copies = calloc(n, sizeof(*copies));
	struct error *error;

	if (!copies)
		return error_memory();
	for (size_t i = 0; i < n; i++)
		copies[i] = (struct prf_place){ .function = places[i].function,
						.file = places[i].file,
						.line = places[i].line,
						.start_line = places[i].start_line };
	error = prf_writer_names(c->writer, frame, copies, n);
	free(copies);
	return error;
}

static struct error *write_all_names(struct copy *c, struct embed_result *result)
{
	struct error *error = symbolizer_run(c->symbolizer);

	/* Also with -q, as prof-record runs it: the copy will be all that there is. */
	if (!error)
		unnamed_say_shortage(c->symbolizer, message_error);
	for (size_t i = 0; !error && i < c->frames.n; i++) {
		const struct symbolizer_place *places;
		size_t n;

		if (c->queries.list[i] == PRF_NONE)
			continue;
		result->frames++;
		places = symbolizer_places(c->symbolizer, c->queries.list[i], &n);
		if (!n)
			continue;
		error = write_names(c, c->frames.list[i], places, n);
		/* Names of megabytes do not fit into a trace: the frame is left without names. */
		if (error && error->kind == ERROR_LIMIT) {
			error_free(error);
			error = NULL;
		} else {
			result->named++;
		}
	}
	return error;
}

/* Everything but the end: what the trace lacks, the copy must not claim to have. */
static struct error *write_end(struct copy *c, struct embed_result *result)
{
	result->complete = prf_reader_complete(c->reader) && !result->damages;
	return result->complete ? prf_writer_finish(c->writer) : prf_writer_flush(c->writer);
}

static struct error *copy_records(struct copy *c, struct progress *progress,
				  struct embed_result *result)
{
	struct prf_record record;
	struct error *error = NULL;

	while (!error && !progress_interrupted()) {
		if (progress)
			progress_show_reader(progress, c->reader);
		error = prf_reader_next(c->reader, &record);
		result->read_failed = error;
		if (error || record.type == PRF_RECORD_END)
			break;
		error = copy_definitions(c);
		if (!error)
			error = copy_record(c, &record, result);
	}
	if (progress)
		progress_end(progress);
	result->interrupted = progress_interrupted();
	return error;
}

static struct error *add_code(struct copy *c, const struct embed_options *o,
			      struct embedded_code *result)
{
	const struct embedding embedding = {
		.reader = c->reader,
		.writer = c->writer,
		.symbolizer = c->symbolizer,
		.objects = c->objects.list,
		.queries = c->queries.list,
		.search = { o->symbols->sysroot, o->symbols->debug_directories },
		.sources = { o->symbols->sysroot, o->source_directory },
	};

	return embed_code(&embedding, result);
}

struct error *embed_names(int from, int to, const struct embed_options *options,
			  struct embed_result *result)
{
	const struct prf_writer_options writing = { .fd = to, .level = LEVEL };
	struct symbolizer_options naming = *options->symbols;
	struct copy c = { 0 };
	struct error *error;

	*result = (struct embed_result){ 0 };
	naming.inlines = true;
	naming.lines = true;
	error = prf_reader_new_fd(&c.reader, from);
	if (!error)
		error = prf_writer_new(&c.writer, &writing);
	if (!error)
		error = symbolizer_new(&c.symbolizer, &naming);
	if (!error)
		error = copy_records(&c, options->progress, result);
	if (!error && !result->interrupted)
		error = copy_definitions(&c);
	if (!error && !result->interrupted)
		error = write_all_names(&c, result);
	if (!error && !result->interrupted && options->code && !result->had_code)
		error = add_code(&c, options, &result->code);
	result->interrupted |= progress_interrupted();
	if (!error && !result->interrupted)
		error = write_end(&c, result);
	copy_release(&c);
	return error;
}
