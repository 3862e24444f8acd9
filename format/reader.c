/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "format/block.h"
#include "format/header.h"
#include "format/index.h"
#include "format/prf.h"
#include "format/records.h"
#include "format/samples.h"
#include "format/source.h"
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
	char damage_reason[96];
	int failure; /* the error that ended the reading, or 0 */
	struct prf_damage error;
	char error_reason[96];

	void (*on_block)(const struct prf_block_info *info, void *context);
	void *on_block_context;
};

static int reader_new(struct prf_reader **reader)
{
	struct prf_reader *r = calloc(1, sizeof(*r));

	*reader = NULL;
	if (!r)
		return PRF_ERROR_MEMORY;
	tables_init(&r->tables);
	r->to_ns = UINT64_MAX;
	r->source.fd = -1;
	r->zstd = ZSTD_createDCtx();
	r->samples = samples_block_new();
	if (!r->zstd || !r->samples) {
		prf_reader_free(r);
		return PRF_ERROR_MEMORY;
	}
	*reader = r;
	return PRF_OK;
}

int prf_reader_new_fd(struct prf_reader **reader, int fd)
{
	int error = reader_new(reader);

	if (!error)
		source_init_fd(&(*reader)->source, fd);
	return error;
}

int prf_reader_new_memory(struct prf_reader **reader, const void *data, size_t size)
{
	int error = reader_new(reader);

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
	free(r);
}

void prf_reader_set_time(struct prf_reader *r, uint64_t from_ns, uint64_t to_ns)
{
	r->from_ns = from_ns;
	r->to_ns = to_ns;
}

/* -------- damage and errors -------- */

/* Damage is handed out before anything else. `reason` may be the buffer it is copied to. */
static int damage(struct prf_reader *r, enum prf_error error, uint64_t offset, uint64_t skipped,
		  const char *reason)
{
	if (reason != r->damage_reason)
		snprintf(r->damage_reason, sizeof(r->damage_reason), "%s", reason);
	r->damage = (struct prf_damage){ error, offset, r->block, skipped, r->damage_reason };
	r->damage_waits = r->damaged = r->broken = true;
	return PRF_OK;
}

/* The trace cannot be read any further. */
static int stop(struct prf_reader *r, enum prf_error error, uint64_t offset, const char *reason)
{
	if (reason != r->error_reason)
		snprintf(r->error_reason, sizeof(r->error_reason), "%s",
			 reason ? reason : prf_error_name(error));
	r->error = (struct prf_damage){ error, offset, r->block, 0, r->error_reason };
	r->failure = error;
	return error;
}

/* -------- the start -------- */

/* Finds the index, so that blocks outside of the wanted times can be left out. */
static int read_index(struct prf_reader *r)
{
	uint8_t bytes[WIRE_BLOCK_HEADER_SIZE + END_SIZE], *stored = NULL;
	struct buffer room = { 0 };
	struct block_header h;
	const uint8_t *raw;
	const char *reason;
	struct cursor c;
	struct end end;
	uint64_t size;
	int error = PRF_OK;

	if (!source_size(&r->source, &size) || size < sizeof(bytes) ||
	    !source_read_at(&r->source, size - sizeof(bytes), bytes, sizeof(bytes)))
		return PRF_OK;
	c = cursor_over(bytes + WIRE_BLOCK_HEADER_SIZE, END_SIZE);
	if (!block_header_decode(bytes, &h) || h.type != WIRE_END || h.stored_size != END_SIZE ||
	    block_header_check(&h, &reason) ||
	    block_payload_check(&h, bytes + WIRE_BLOCK_HEADER_SIZE, &reason) ||
	    !end_decode(&c, &end) || !end.index_offset)
		return PRF_OK;
	if (!source_read_at(&r->source, end.index_offset, bytes, WIRE_BLOCK_HEADER_SIZE) ||
	    !block_header_decode(bytes, &h) || h.type != WIRE_INDEX ||
	    block_header_check(&h, &reason) || h.stored_size > size)
		return PRF_OK;
	stored = malloc(h.stored_size ? h.stored_size : 1);
	if (!stored)
		return PRF_ERROR_MEMORY;
	if (source_read_at(&r->source, end.index_offset + WIRE_BLOCK_HEADER_SIZE, stored,
			   h.stored_size) &&
	    !block_payload_check(&h, stored, &reason) &&
	    !block_decompress(&h, r->zstd, stored, &room, &raw, &reason)) {
		c = cursor_over(raw, h.raw_size);
		error = index_decode(&r->index, &c);
	}
	free(stored);
	buffer_release(&room);
	return error == PRF_ERROR_MEMORY ? error : PRF_OK;
}

static int start(struct prf_reader *r)
{
	const uint8_t *bytes;
	size_t got;
	int error = source_peek(&r->source, WIRE_HEADER_SIZE, &bytes, &got);

	if (error)
		return stop(r, error, 0, NULL);
	r->started = true;
	error = header_decode(bytes, got, &r->major, &r->minor);
	switch (error) {
	case PRF_OK: break;
	case PRF_ERROR_CORRUPT:
		r->major = PRF_VERSION_MAJOR;
		r->minor = PRF_VERSION_MINOR;
		damage(r, error, 0, WIRE_HEADER_SIZE, "file header checksum mismatch");
		break;
	case PRF_ERROR_UNSUPPORTED:
		if (r->major != PRF_VERSION_MAJOR)
			snprintf(r->error_reason, sizeof(r->error_reason), "version %u.%u",
				 r->major, r->minor);
		else
			snprintf(r->error_reason, sizeof(r->error_reason),
				 "unknown file header flags");
		return stop(r, error, 0, r->error_reason);
	case PRF_ERROR_NOT_A_TRACE:
		return stop(r, error, 0,
			    got ? "the magic bytes are not there" : "there are no bytes");
	default: return stop(r, error, 0, "the bytes end inside the file header");
	}
	source_advance(&r->source, WIRE_HEADER_SIZE);
	r->filtered = r->from_ns || r->to_ns != UINT64_MAX;
	if (r->filtered) {
		error = read_index(r);
		if (error)
			return stop(r, error, 0, NULL);
	}
	return PRF_OK;
}

/* -------- blocks -------- */

/*
 * Behind damage: goes on to the next block header, or to the end. The bytes from `offset` up to
 * there were skipped.
 */
static int resynchronize(struct prf_reader *r, uint64_t offset, const char *reason)
{
	for (;;) {
		const uint8_t *bytes, *marker;
		struct block_header h;
		size_t got, ahead;
		int error = source_peek(&r->source, (size_t)64 << 10, &bytes, &got);

		if (error)
			return stop(r, error, r->source.offset, NULL);
		if (got < WIRE_BLOCK_HEADER_SIZE) {
			source_advance(&r->source, got);
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
	return damage(r, PRF_ERROR_CORRUPT, offset, r->source.offset - offset, reason);
}

/* Headers within payloads of headers within payloads: at some point they are believed. */
static bool may_search(struct prf_reader *r)
{
	r->searched += r->header.stored_size;
	return r->searched <= SEARCHED_FREE + r->source.offset * SEARCHED_PER_BYTE;
}

/*
 * A damaged payload: the next block follows it where the header says, or, when bytes were lost or
 * put in, somewhere else.
 */
static int skip_payload(struct prf_reader *r, const char *reason)
{
	const struct block_header *h = &r->header;
	const uint8_t *bytes;
	struct block_header next;
	size_t got;
	int error = source_peek(&r->source, (size_t)h->stored_size + WIRE_BLOCK_HEADER_SIZE, &bytes,
				&got);

	if (error)
		return stop(r, error, r->block_offset, NULL);
	if (got == h->stored_size ||
	    (got == (size_t)h->stored_size + WIRE_BLOCK_HEADER_SIZE &&
	     block_header_decode(bytes + h->stored_size, &next)) ||
	    !may_search(r)) {
		source_advance(&r->source, h->stored_size);
		return damage(r, PRF_ERROR_CORRUPT, r->block_offset,
			      r->source.offset - r->block_offset, reason);
	}
	return resynchronize(r, r->block_offset, reason);
}

static int truncated(struct prf_reader *r, size_t left)
{
	source_advance(&r->source, left);
	r->stopped = true;
	return damage(r, PRF_ERROR_TRUNCATED, r->block_offset, r->source.offset - r->block_offset,
		      "the bytes end inside a block");
}

static void tell_block(struct prf_reader *r)
{
	struct prf_block_info info = {
		.offset = r->block_offset,
		.number = r->block,
		.sequence = r->header.sequence,
		.type = block_type_name(r->header.type),
		.type_code = r->header.type,
		.flags = r->header.flags,
		.stored_bytes = r->header.stored_size,
		.raw_bytes = r->header.raw_size,
	};

	if (r->on_block)
		r->on_block(&info, r->on_block_context);
}

static int take_end(struct prf_reader *r, struct cursor *c)
{
	const uint8_t *bytes;
	struct end end;
	uint64_t behind;
	size_t got;
	int error;

	if (!end_decode(c, &end))
		return damage(r, PRF_ERROR_CORRUPT, r->block_offset, 0, "the end block is broken");
	r->ended = true;
	if (!r->damaged &&
	    (end.blocks != r->block + 1 || (!r->filtered && end.samples != r->sample_count)))
		return damage(r, PRF_ERROR_CORRUPT, r->block_offset, 0,
			      "the end block counts other blocks or samples");
	source_advance(&r->source, r->held);
	r->held = 0;
	error = source_peek(&r->source, 1, &bytes, &got);
	if (error)
		return stop(r, error, r->source.offset, NULL);
	if (!got)
		return PRF_OK;
	r->block++;
	r->stopped = true;
	r->block_offset = r->source.offset;
	error = source_skip(&r->source, UINT64_MAX / 2, &behind);
	if (error)
		return stop(r, error, r->source.offset, NULL);
	return damage(r, PRF_ERROR_CORRUPT, r->block_offset, behind, "bytes behind the end block");
}

/* Takes definitions in, or gets ready to hand out what the block holds. */
static int take_payload(struct prf_reader *r, const uint8_t *raw)
{
	struct cursor c = cursor_over(raw, r->header.raw_size);
	const char *reason = "the block is broken";
	struct tables *t = &r->tables;
	int error = PRF_OK;

	t->lost_allowed = LOST_FREE + r->source.offset * LOST_PER_BYTE;
	switch (r->header.type) {
	case WIRE_EVENTS: error = events_decode(t, &c, &reason); break;
	case WIRE_OBJECTS: error = objects_decode(t, &c, &reason); break;
	case WIRE_TASKS: error = tasks_decode(t, &c, &reason); break;
	case WIRE_FRAMES: error = frames_decode(t, &c, &reason); break;
	case WIRE_STACKS: error = stacks_decode(t, &c, &reason); break;
	case WIRE_SAMPLES:
		error = samples_decode(r->samples, t, &c, &reason);
		r->content = CONTENT_SAMPLES;
		break;
	case WIRE_LOSSES:
	case WIRE_SYMBOLS:
	case WIRE_NAMES:
	case WIRE_METADATA:
	case WIRE_STATISTICS:
		error = records_decode(&r->records, r->header.type, t, c, &reason);
		r->content = CONTENT_RECORDS;
		break;
	case WIRE_END: return take_end(r, &c);
	default: /* the index, which was read already if anybody wants it; unknown but optional */
		break;
	}
	if (!error)
		return PRF_OK;
	r->content = CONTENT_NONE;
	if (error == PRF_ERROR_MEMORY)
		return stop(r, error, r->block_offset, NULL);
	return damage(r, error, r->block_offset, WIRE_BLOCK_HEADER_SIZE + r->held, reason);
}

/* The number of a block in its trace: each is written once, in order. */
static bool in_sequence(struct prf_reader *r)
{
	uint32_t sequence = r->header.sequence, expected = r->sequence;

	if (sequence < expected)
		return false;
	r->sequence = sequence + 1;
	if (sequence > expected && !r->broken) {
		snprintf(r->damage_reason, sizeof(r->damage_reason),
			 "%" PRIu32 " %s missing before it", sequence - expected,
			 sequence - expected == 1 ? "block is" : "blocks are");
		damage(r, PRF_ERROR_CORRUPT, r->block_offset, 0, r->damage_reason);
	}
	r->broken = false;
	return true;
}

static int unsupported_block(struct prf_reader *r, const char *reason)
{
	if (!reason) {
		snprintf(r->error_reason, sizeof(r->error_reason), "block type %u", r->header.type);
		reason = r->error_reason;
	}
	return stop(r, PRF_ERROR_UNSUPPORTED, r->block_offset, reason);
}

/* The payload of r->header, which lies ahead. */
static int read_payload(struct prf_reader *r)
{
	const uint8_t *bytes, *raw;
	const char *reason = NULL;
	size_t got;
	int error = source_peek(&r->source, r->header.stored_size, &bytes, &got);

	if (error)
		return stop(r, error, r->block_offset, NULL);
	if (got < r->header.stored_size)
		return truncated(r, got);
	if (block_payload_check(&r->header, bytes, &reason))
		return skip_payload(r, reason);
	if (!in_sequence(r)) {
		source_advance(&r->source, r->header.stored_size);
		return damage(r, PRF_ERROR_CORRUPT, r->block_offset,
			      r->source.offset - r->block_offset, "a block out of order");
	}
	if (r->header.type >= WIRE_TYPES || !r->header.type) {
		if (!(r->header.flags & WIRE_FLAG_OPTIONAL))
			return unsupported_block(r, NULL);
		tell_block(r);
		source_advance(&r->source, r->header.stored_size);
		return PRF_OK;
	}
	error = block_decompress(&r->header, r->zstd, bytes, &r->raw, &raw, &reason);
	if (error == PRF_ERROR_MEMORY)
		return stop(r, error, r->block_offset, NULL);
	r->held = r->header.stored_size;
	if (error)
		return damage(r, error, r->block_offset, WIRE_BLOCK_HEADER_SIZE + r->held, reason);
	r->raw_bytes += r->header.raw_size;
	tell_block(r);
	return take_payload(r, raw);
}

/* A block of samples that the index says are not wanted. */
static int leave_out(struct prf_reader *r)
{
	uint64_t skipped;
	int error = source_skip(&r->source, r->header.stored_size, &skipped);

	if (error)
		return stop(r, error, r->block_offset, NULL);
	if (skipped < r->header.stored_size)
		return truncated(r, 0);
	in_sequence(r);
	tell_block(r);
	return PRF_OK;
}

static void no_header(struct prf_reader *r)
{
	source_advance(&r->source, 1);
	resynchronize(r, r->block_offset, "this is no block header");
}

/* The block whose header is in r->header and lies ahead. */
static void read_block(struct prf_reader *r)
{
	const char *reason;
	int error = block_header_check(&r->header, &reason);

	if (error == PRF_ERROR_UNSUPPORTED) {
		unsupported_block(r, reason);
		return;
	}
	source_advance(&r->source, WIRE_BLOCK_HEADER_SIZE);
	if (error)
		resynchronize(r, r->block_offset, reason);
	else if (r->header.type == WIRE_SAMPLES &&
		 !index_wants(&r->index, r->block_offset, r->from_ns, r->to_ns))
		leave_out(r);
	else
		read_payload(r);
}

/* 1: there was a block, damage or a failure, 0: the end. */
static int next_block(struct prf_reader *r)
{
	const uint8_t *bytes;
	size_t got;
	int error = source_peek(&r->source, WIRE_BLOCK_HEADER_SIZE, &bytes, &got);

	r->block_offset = r->source.offset;
	if (error)
		stop(r, error, r->block_offset, NULL);
	else if (!got)
		return 0;
	else if (got < WIRE_BLOCK_HEADER_SIZE)
		truncated(r, got);
	else if (!block_header_decode(bytes, &r->header))
		no_header(r);
	else
		read_block(r);
	r->block++;
	return 1;
}

/* -------- records -------- */

/* 1: `record` was filled, 0: the block has no more, < 0: stopped */
static int next_content(struct prf_reader *r, struct prf_record *record)
{
	const char *reason = NULL;
	int result;

	if (r->content == CONTENT_SAMPLES) {
		record->type = PRF_RECORD_SAMPLES;
		result = samples_next(r->samples, r->from_ns, r->to_ns, &record->samples, &reason);
		if (result == 1)
			r->sample_count += record->samples.n;
	} else {
		result = records_next(&r->records, &r->tables, record, &reason);
	}
	if (result == 1)
		return 1;
	r->content = CONTENT_NONE;
	if (result == PRF_ERROR_CORRUPT) {
		r->block--;
		damage(r, result, r->block_offset, WIRE_BLOCK_HEADER_SIZE + r->held, reason);
		r->block++;
		return 0;
	}
	return result ? stop(r, result, r->block_offset, reason) : 0;
}

int prf_reader_next(struct prf_reader *r, struct prf_record *record)
{
	if (!r->started)
		start(r);
	for (;;) {
		int result;

		if (r->damage_waits) {
			r->damage_waits = false;
			record->type = PRF_RECORD_DAMAGE;
			record->damage = r->damage;
			return 1;
		}
		if (r->failure)
			return r->failure;
		if (r->content != CONTENT_NONE) {
			result = next_content(r, record);
			if (result == 1 &&
			    (record->type != PRF_RECORD_SAMPLES || record->samples.n))
				return 1;
			continue;
		}
		source_advance(&r->source, r->held);
		r->held = 0;
		if (r->stopped || next_block(r) == 0)
			return 0;
	}
}

const struct prf_damage *prf_reader_error(const struct prf_reader *r)
{
	return &r->error;
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
