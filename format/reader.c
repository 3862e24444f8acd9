/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "format/block.h"
#include "format/definitions.h"
#include "format/header.h"
#include "format/index.h"
#include "format/prf.h"
#include "format/records.h"
#include "format/samples.h"
#include "format/source.h"
#include "format/stacks.h"
#include "format/tables.h"

/* What the size of a trace justifies: see prf.5, "Lost definitions". */
#define LOST_FREE 65536
#define LOST_PER_BYTE 4

/* How many bytes of damaged payloads may be gone through again in search of a header. */
#define SEARCHED_FREE (UINT64_C(64) << 20)
#define SEARCHED_PER_BYTE 16

/* What the current block still has to hand out. */
enum content {
	CONTENT_NONE,
	CONTENT_SAMPLES,
	CONTENT_RECORDS,
};

struct prf_reader {
	struct source source;
	ZSTD_DCtx *zstd;
	unsigned int major, minor;
	bool started;	   /* the file header was read */
	bool ended;	   /* the end block was read */
	bool stopped;	   /* nothing more will come */
	bool damaged;	   /* something was reported as damage */
	bool broken;	   /* and nothing was intact since */
	uint64_t searched; /* bytes of damaged payloads that were not passed over */
	bool filtered;	   /* samples may be left out because of their times */
	uint64_t from_ns, to_ns;
	struct index index;

	uint64_t block;	   /* number of the next block */
	uint32_t sequence; /* that the next block should have */
	struct block_header header;
	uint64_t block_offset;
	struct buffer raw;
	size_t held; /* stored bytes that `raw` may point into: to be advanced over */

	enum content content;
	struct samples_block *samples;
	struct records records;
	struct tables tables;
	uint64_t sample_count, raw_bytes;

	bool damage_waits;
	struct prf_damage damage;
	struct error *damage_cause; /* has the reason */
	struct error *failure;	    /* that ended the reading */

	void (*on_block)(const struct prf_block_info *info, void *context);
	void *on_block_context;
};

static struct error *reader_new(struct prf_reader **reader)
{
	struct prf_reader *r = calloc(1, sizeof(*r));

	*reader = NULL;
	if (!r)
		return error_memory();
	tables_init(&r->tables);
	r->to_ns = UINT64_MAX;
	r->source.fd = -1;
	r->samples = samples_block_new();
	if (!r->samples) {
		prf_reader_free(r);
		return error_memory();
	}
	*reader = r;
	return NULL;
}

struct error *prf_reader_new_fd(struct prf_reader **reader, int fd)
{
	struct error *error = reader_new(reader);

	if (!error)
		source_init_fd(&(*reader)->source, fd);
	return error;
}

struct error *prf_reader_new_memory(struct prf_reader **reader, const void *data, size_t size)
{
	struct error *error = reader_new(reader);

	if (!error)
		source_init_memory(&(*reader)->source, data, size);
	return error;
}

void prf_reader_free(struct prf_reader *r)
{
	if (!r)
		return;
	source_release(&r->source);
	ZSTD_freeDCtx(r->zstd);
	buffer_release(&r->raw);
	samples_block_free(r->samples);
	records_release(&r->records);
	tables_release(&r->tables);
	index_release(&r->index);
	error_free(r->damage_cause);
	error_free(r->failure);
	free(r);
}

void prf_reader_set_time(struct prf_reader *r, uint64_t from_ns, uint64_t to_ns)
{
	r->from_ns = from_ns;
	r->to_ns = to_ns;
}

void prf_reader_follow(struct prf_reader *r)
{
	r->source.grows = true;
}

/* -------- damage and errors -------- */

/* Takes the error as the reason for bytes that are skipped, which is reported before all else. */
static void damage(struct prf_reader *r, struct error *cause, uint64_t offset, uint64_t skipped)
{
	error_free(r->damage_cause);
	r->damage_cause = cause;
	r->damage = (struct prf_damage){ cause->kind, offset, r->block, skipped, cause->text };
	r->damage_waits = r->damaged = r->broken = true;
}

/* Takes the error as the end of all reading. */
static void stop(struct prf_reader *r, struct error *error, uint64_t offset)
{
	error = error_prefix(error, "block %" PRIu64 " at 0x%" PRIx64, r->block, offset);
	if (error->kind != ERROR_MEMORY)
		error->position = offset;
	error_free(r->failure);
	r->failure = error;
}

/* -------- the start -------- */

/* Finds the index, so that blocks outside of the wanted times can be left out. */
static struct error *read_index(struct prf_reader *r)
{
	uint8_t bytes[WIRE_BLOCK_HEADER_SIZE + END_SIZE], *stored = NULL;
	struct buffer room = { 0 };
	struct block_header h;
	const uint8_t *raw;
	struct cursor c;
	struct end end;
	uint64_t size;
	struct error *error = NULL;

	if (!source_size(&r->source, &size) || size < sizeof(bytes) ||
	    !source_read_at(&r->source, size - sizeof(bytes), bytes, sizeof(bytes)))
		return NULL;
	c = cursor_over(bytes + WIRE_BLOCK_HEADER_SIZE, END_SIZE);
	if (!block_header_decode(bytes, &h) || h.type != WIRE_END || h.stored_size != END_SIZE ||
	    error_ignore(block_header_check(&h)) ||
	    !block_payload_intact(&h, bytes + WIRE_BLOCK_HEADER_SIZE) || !end_decode(&c, &end) ||
	    !end.index_offset)
		return NULL;
	if (!source_read_at(&r->source, end.index_offset, bytes, WIRE_BLOCK_HEADER_SIZE) ||
	    !block_header_decode(bytes, &h) || h.type != WIRE_INDEX ||
	    error_ignore(block_header_check(&h)) || h.stored_size > size)
		return NULL;
	stored = malloc(h.stored_size ? h.stored_size : 1);
	if (!stored)
		return error_memory();
	if (source_read_at(&r->source, end.index_offset + WIRE_BLOCK_HEADER_SIZE, stored,
			   h.stored_size) &&
	    block_payload_intact(&h, stored)) {
		error = block_decompress(&h, &r->zstd, stored, &room, &raw);
		c = cursor_over(error ? NULL : raw, h.raw_size);
		if (!error)
			error = index_decode(&r->index, &c);
	}
	free(stored);
	buffer_release(&room);
	/* Without an index all blocks are read. */
	if (error && error->kind != ERROR_MEMORY) {
		error_free(error);
		error = NULL;
	}
	return error;
}

static struct error *read_header(struct prf_reader *r)
{
	const uint8_t *bytes;
	size_t got;
	struct error *error = source_peek(&r->source, WIRE_HEADER_SIZE, &bytes, &got);

	if (error)
		return error;
	error = header_decode(bytes, got, &r->major, &r->minor);
	if (error && error->kind == ERROR_CORRUPT) {
		r->major = PRF_VERSION_MAJOR;
		r->minor = PRF_VERSION_MINOR;
		damage(r, error, 0, WIRE_HEADER_SIZE);
		error = NULL;
	}
	if (!error)
		source_advance(&r->source, WIRE_HEADER_SIZE);
	return error;
}

/* In a trace that grows: whether so many bytes are there. When reading fails there is nothing to
 * wait for. */
static bool have_come(struct prf_reader *r, size_t wanted)
{
	const uint8_t *bytes;
	size_t got;

	return error_ignore(source_peek(&r->source, wanted, &bytes, &got)) || got == wanted;
}

static void start(struct prf_reader *r)
{
	struct error *error = read_header(r);

	r->started = true;
	r->filtered = r->from_ns || r->to_ns != UINT64_MAX;
	if (!error && r->filtered)
		error = read_index(r);
	r->failure = error;
}

/* -------- blocks -------- */

/*
 * After damage: goes on to the next block header, or to the end. The bytes from `offset` up to
 * there were skipped because of `cause`.
 */
static void resynchronize(struct prf_reader *r, struct error *cause, uint64_t offset)
{
	for (;;) {
		const uint8_t *bytes, *marker;
		struct block_header h;
		size_t got, ahead;
		struct error *error = source_peek(&r->source, (size_t)64 << 10, &bytes, &got);

		if (error) {
			stop(r, error, r->source.offset);
			break;
		}
		if (got < WIRE_BLOCK_HEADER_SIZE) {
			/* What may be the beginning of a header is looked at again when more has
			 * come. */
			source_advance(&r->source, r->source.grows ? 0 : got);
			break;
		}
		marker = memmem(bytes, got, WIRE_MARKER, WIRE_MARKER_SIZE);
		ahead = marker ? (size_t)(marker - bytes) : got - (WIRE_MARKER_SIZE - 1);
		if (marker && got - ahead >= WIRE_BLOCK_HEADER_SIZE) {
			if (block_header_decode(marker, &h)) {
				source_advance(&r->source, ahead);
				break;
			}
			ahead++;
		}
		source_advance(&r->source, ahead);
	}
	damage(r, cause, offset, r->source.offset - offset);
}

/*
 * Whether the bytes of a damaged block are searched for further headers. A trace made of headers
 * within payloads of headers would have each byte read many times: the work is bounded.
 */
static bool may_search(struct prf_reader *r)
{
	r->searched += r->header.stored_size;
	return r->searched <= SEARCHED_FREE + r->source.offset * SEARCHED_PER_BYTE;
}

/*
 * A damaged payload: the next block follows it where the header says, or, when bytes were lost or
 * put in, somewhere else.
 */
static void skip_payload(struct prf_reader *r, struct error *cause)
{
	const struct block_header *h = &r->header;
	const uint8_t *bytes;
	struct block_header next;
	size_t got;
	struct error *error = source_peek(
		&r->source, (size_t)h->stored_size + WIRE_BLOCK_HEADER_SIZE, &bytes, &got);

	if (error) {
		error_free(cause);
		stop(r, error, r->block_offset);
	} else if (got == h->stored_size ||
		   (got == (size_t)h->stored_size + WIRE_BLOCK_HEADER_SIZE &&
		    block_header_decode(bytes + h->stored_size, &next)) ||
		   !may_search(r)) {
		source_advance(&r->source, h->stored_size);
		damage(r, cause, r->block_offset, r->source.offset - r->block_offset);
	} else {
		resynchronize(r, cause, r->block_offset);
	}
}

static void truncated(struct prf_reader *r, size_t left)
{
	source_advance(&r->source, left);
	r->stopped = true;
	damage(r, error_new(ERROR_TRUNCATED, "the bytes end inside a block"), r->block_offset,
	       r->source.offset - r->block_offset);
}

static void report_block(struct prf_reader *r)
{
	struct prf_block_info info = {
		.offset = r->block_offset,
		.number = r->block,
		.sequence = r->header.sequence,
		.type = block_type_name(r->header.type),
		.type_code = r->header.type,
		.flags = r->header.flags,
		.header_bytes = WIRE_BLOCK_HEADER_SIZE,
		.stored_bytes = r->header.stored_size,
		.raw_bytes = r->header.raw_size,
	};

	if (r->on_block)
		r->on_block(&info, r->on_block_context);
}

/* What follows the end block does not belong to the trace. */
static void check_nothing_follows(struct prf_reader *r)
{
	const uint8_t *bytes;
	uint64_t skipped = 0;
	size_t got;
	struct error *error;

	source_advance(&r->source, r->held);
	r->held = 0;
	error = source_peek(&r->source, 1, &bytes, &got);
	if (!error && !got)
		return;
	r->block++;
	r->block_offset = r->source.offset;
	if (!error)
		error = source_skip(&r->source, UINT64_MAX / 2, &skipped);
	if (error)
		stop(r, error, r->source.offset);
	else
		damage(r, error_new(ERROR_CORRUPT, "bytes after the end block"), r->block_offset,
		       skipped);
}

/* Compares what the end block counts with what was read. After damage there is nothing to compare.
 */
static struct error *check_end(const struct prf_reader *r, const struct end *end)
{
	if (!r->damaged && end->blocks != r->block + 1)
		return error_new(ERROR_CORRUPT,
				 "the end block counts %" PRIu64 " blocks, not %" PRIu64,
				 end->blocks, r->block + 1);
	if (!r->damaged && !r->filtered && end->samples != r->sample_count)
		return error_new(ERROR_CORRUPT,
				 "the end block counts %" PRIu64 " samples, not %" PRIu64,
				 end->samples, r->sample_count);
	return NULL;
}

static void take_end(struct prf_reader *r, struct cursor *c)
{
	struct error *error;
	struct end end;

	r->ended = r->stopped = end_decode(c, &end);
	error = r->ended ? check_end(r, &end)
			 : error_new(ERROR_CORRUPT, "the end block is too short");
	if (error)
		damage(r, error, r->block_offset, 0);
	else
		check_nothing_follows(r);
}

/* Takes definitions in, or gets ready to hand out what the block holds. */
static struct error *take_payload(struct prf_reader *r, const uint8_t *raw)
{
	struct cursor c = cursor_over(raw, r->header.raw_size);
	struct tables *t = &r->tables;
	struct error *error = NULL;

	t->lost_allowed = LOST_FREE + r->source.offset * LOST_PER_BYTE;
	switch (r->header.type) {
	case WIRE_EVENTS: return events_decode(t, &c);
	case WIRE_OBJECTS: return objects_decode(t, &c);
	case WIRE_TASKS: return tasks_decode(t, &c);
	case WIRE_FRAMES: return frames_decode(t, &c);
	case WIRE_STACKS: return stacks_decode(t, &c);
	case WIRE_SAMPLES:
		error = samples_decode(r->samples, t, &c);
		r->content = error ? CONTENT_NONE : CONTENT_SAMPLES;
		return error;
	case WIRE_LOSSES:
	case WIRE_SYMBOLS:
	case WIRE_NAMES:
	case WIRE_CODE:
	case WIRE_SOURCES:
	case WIRE_METADATA:
	case WIRE_STATISTICS:
		error = records_decode(&r->records, r->header.type, t, c);
		r->content = error ? CONTENT_NONE : CONTENT_RECORDS;
		return error;
	case WIRE_END: take_end(r, &c); return NULL;
	default: /* the index, which was read already if anybody wants it */ return NULL;
	}
}

/* The number of a block in its trace: each is written once, in order. */
static bool in_sequence(struct prf_reader *r)
{
	uint32_t sequence = r->header.sequence, expected = r->sequence;

	if (sequence < expected)
		return false;
	r->sequence = sequence + 1;
	if (sequence > expected && !r->broken)
		damage(r,
		       error_new(ERROR_CORRUPT, "%" PRIu32 " %s missing before it",
				 sequence - expected,
				 sequence - expected == 1 ? "block is" : "blocks are"),
		       r->block_offset, 0);
	r->broken = false;
	return true;
}

/* A block of a type that this version does not know. */
static void unknown_block(struct prf_reader *r)
{
	if (!(r->header.flags & WIRE_FLAG_OPTIONAL)) {
		stop(r, error_new(ERROR_UNSUPPORTED, "block type %u", r->header.type),
		     r->block_offset);
		return;
	}
	report_block(r);
	source_advance(&r->source, r->header.stored_size);
}

/* A payload that is what its writer wrote. */
static void read_intact_payload(struct prf_reader *r, const uint8_t *stored)
{
	struct error *error;
	const uint8_t *raw;

	r->held = r->header.stored_size;
	error = block_decompress(&r->header, &r->zstd, stored, &r->raw, &raw);
	if (!error) {
		r->raw_bytes += r->header.raw_size;
		report_block(r);
		error = take_payload(r, raw);
	}
	if (error && error->kind == ERROR_CORRUPT)
		damage(r, error, r->block_offset, WIRE_BLOCK_HEADER_SIZE + r->held);
	else if (error)
		stop(r, error, r->block_offset);
}

/* The payload of r->header, which lies ahead. */
static void read_payload(struct prf_reader *r)
{
	const uint8_t *stored;
	size_t got;
	struct error *error = source_peek(&r->source, r->header.stored_size, &stored, &got);

	if (error) {
		stop(r, error, r->block_offset);
	} else if (got < r->header.stored_size) {
		truncated(r, got);
	} else if (!block_payload_intact(&r->header, stored)) {
		skip_payload(r, error_new(ERROR_CORRUPT, "payload checksum mismatch"));
	} else if (!in_sequence(r)) {
		source_advance(&r->source, r->header.stored_size);
		damage(r,
		       error_new(ERROR_CORRUPT,
				 "a block out of order: sequence %" PRIu32 " after %" PRIu32,
				 r->header.sequence, r->sequence - 1),
		       r->block_offset, r->source.offset - r->block_offset);
	} else if (r->header.type >= WIRE_TYPES || !r->header.type) {
		unknown_block(r);
	} else {
		read_intact_payload(r, stored);
	}
}

/* A block of samples that the index says are not wanted. */
static void leave_out(struct prf_reader *r)
{
	uint64_t skipped;
	struct error *error = source_skip(&r->source, r->header.stored_size, &skipped);

	if (error) {
		stop(r, error, r->block_offset);
	} else if (skipped < r->header.stored_size) {
		truncated(r, 0);
	} else {
		in_sequence(r);
		report_block(r);
	}
}

static void no_header(struct prf_reader *r)
{
	source_advance(&r->source, 1);
	resynchronize(r, error_new(ERROR_CORRUPT, "this is no block header"), r->block_offset);
}

/* The block whose header is in r->header and lies ahead. */
static void read_block(struct prf_reader *r)
{
	struct error *error = block_header_check(&r->header);

	if (error && error->kind == ERROR_UNSUPPORTED) {
		stop(r, error, r->block_offset);
		return;
	}
	source_advance(&r->source, WIRE_BLOCK_HEADER_SIZE);
	if (error)
		resynchronize(r, error, r->block_offset);
	else if (r->header.type == WIRE_SAMPLES &&
		 !index_wants(&r->index, r->block_offset, r->from_ns, r->to_ns))
		leave_out(r);
	else
		read_payload(r);
}

/*
 * In a trace that grows: whether all of the block is there whose header is in r->header and lies
 * ahead; if it is damaged, with what follows it: see skip_payload(). One whose header is damaged is
 * not waited for.
 */
static bool block_has_come(struct prf_reader *r)
{
	size_t size = WIRE_BLOCK_HEADER_SIZE + (size_t)r->header.stored_size, got;
	const uint8_t *bytes;

	if (error_ignore(block_header_check(&r->header)) ||
	    error_ignore(source_peek(&r->source, size + WIRE_BLOCK_HEADER_SIZE, &bytes, &got)))
		return true;
	return got == size + WIRE_BLOCK_HEADER_SIZE ||
	       (got >= size && block_payload_intact(&r->header, bytes + WIRE_BLOCK_HEADER_SIZE));
}

/* True: there was a block, damage or a failure; false: the end, of what is there by now. */
static bool next_block(struct prf_reader *r)
{
	const uint8_t *bytes;
	size_t got;
	struct error *error = source_peek(&r->source, WIRE_BLOCK_HEADER_SIZE, &bytes, &got);

	r->block_offset = r->source.offset;
	if (error)
		stop(r, error, r->block_offset);
	else if (!got || (r->source.grows && got < WIRE_BLOCK_HEADER_SIZE))
		return false;
	else if (got < WIRE_BLOCK_HEADER_SIZE)
		truncated(r, got);
	else if (!block_header_decode(bytes, &r->header))
		no_header(r);
	else if (r->source.grows && !block_has_come(r))
		return false;
	else
		read_block(r);
	r->block++;
	return true;
}

/* -------- records -------- */

static bool content_left(const struct prf_reader *r)
{
	switch (r->content) {
	case CONTENT_SAMPLES: return samples_left(r->samples);
	case CONTENT_RECORDS: return records_left(&r->records);
	default: return false;
	}
}

/* Fills `record` from the block; false: there is nothing in it, but perhaps damage or a failure. */
static bool next_content(struct prf_reader *r, struct prf_record *record)
{
	struct error *error;

	if (r->content == CONTENT_SAMPLES) {
		record->type = PRF_RECORD_SAMPLES;
		error = samples_next(r->samples, r->from_ns, r->to_ns, &record->samples);
	} else {
		error = records_next(&r->records, &r->tables, record);
	}
	if (!error && record->type == PRF_RECORD_SAMPLES)
		r->sample_count += record->samples.n;
	if (!error)
		return record->type != PRF_RECORD_SAMPLES || record->samples.n;
	r->content = CONTENT_NONE;
	/* The block counts as read since its header was. */
	r->block--;
	if (error->kind == ERROR_CORRUPT)
		damage(r, error, r->block_offset, WIRE_BLOCK_HEADER_SIZE + r->held);
	else
		stop(r, error, r->block_offset);
	r->block++;
	return false;
}

struct error *prf_reader_next(struct prf_reader *r, struct prf_record *record)
{
	if (!r->started && r->source.grows && !have_come(r, WIRE_HEADER_SIZE)) {
		record->type = PRF_RECORD_END;
		return NULL;
	}
	if (!r->started)
		start(r);
	for (;;) {
		if (r->damage_waits) {
			r->damage_waits = false;
			record->type = PRF_RECORD_DAMAGE;
			record->damage = r->damage;
			return NULL;
		}
		if (r->failure)
			return error_copy(r->failure);
		if (content_left(r)) {
			if (next_content(r, record))
				return NULL;
			continue;
		}
		source_advance(&r->source, r->held);
		r->held = 0;
		if (r->stopped || !next_block(r)) {
			record->type = PRF_RECORD_END;
			return NULL;
		}
	}
}

bool prf_reader_complete(const struct prf_reader *r)
{
	return r->ended && !r->damaged;
}

bool prf_reader_ended(const struct prf_reader *r)
{
	return r->ended;
}

void prf_reader_bytes(const struct prf_reader *r, uint64_t *file_bytes, uint64_t *raw_bytes)
{
	*file_bytes = r->source.offset + r->held;
	*raw_bytes = r->raw_bytes;
}

void prf_reader_version(const struct prf_reader *r, unsigned int *major, unsigned int *minor)
{
	*major = r->major;
	*minor = r->minor;
}

void prf_reader_on_block(struct prf_reader *r,
			 void (*block)(const struct prf_block_info *info, void *context),
			 void *context)
{
	r->on_block = block;
	r->on_block_context = context;
}

/* -------- definitions -------- */

size_t prf_reader_events(const struct prf_reader *r)
{
	return r->tables.event_count;
}

size_t prf_reader_objects(const struct prf_reader *r)
{
	return r->tables.object_count;
}

size_t prf_reader_tasks(const struct prf_reader *r)
{
	return r->tables.task_count;
}

size_t prf_reader_frames(const struct prf_reader *r)
{
	return r->tables.frame_count;
}

size_t prf_reader_stacks(const struct prf_reader *r)
{
	return r->tables.stack_count;
}

const struct prf_event *prf_reader_event(const struct prf_reader *r, uint32_t id)
{
	return r->tables.events[id];
}

const struct prf_object *prf_reader_object(const struct prf_reader *r, uint32_t id)
{
	return r->tables.objects[id];
}

const struct prf_task *prf_reader_task(const struct prf_reader *r, uint32_t id)
{
	return r->tables.tasks[id];
}

const struct prf_frame *prf_reader_all_frames(const struct prf_reader *r)
{
	return r->tables.frames;
}

const struct prf_stack *prf_reader_all_stacks(const struct prf_reader *r)
{
	return r->tables.stacks;
}
