/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/script_names.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/arena.h"
#include "common/array.h"
#include "common/buffer.h"
#include "common/hash_seed.h"
#include "common/limits.h"
#include "common/map.h"
#include "common/recent.h"
#include "common/utf8.h"
#include "record/scripts/python_lines.h"

/*
 * Their table has its last size, below a MiB, from the beginning. Those that come again after so
 * many others are defined again.
 */
#define FRAMES_MAX (3 << 14)
#define PENDING_MAX 4096
#define TEXT_MAX 4096	     /* bytes of a name or path in the process */
#define TABLE_MAX (1u << 16) /* of a line table */
#define TOP_LEVEL "{main}"   /* as PHP calls what is in no function */

struct code {
	const char *function, *file;
	uint32_t table_kind;
	struct python_lines lines;
};

/*
 * Which code object, of one process: its address and the cookie that the kernel half made for it,
 * in which the process is.
 */
struct identity {
	uint64_t code, cookie;
};

#define NUMBER_BITS 32

enum process_state { PROCESS_LIVES, PROCESS_ENDED };

/* A frame without a name so far, and in which unit of the code it is. */
struct place {
	struct identity identity;
	uint64_t unit;
};

struct pending {
	struct place place;
	uint32_t frame;
};

struct script_names {
	struct script_names_options options;
	struct prf_writer *writer;
	struct arena texts;
	size_t bytes;
	struct code *codes;
	size_t count, capacity;
	struct map identities; /* -> index in `codes` + 1, and the process above NUMBER_BITS */
	struct map contents;   /* hash of all that is in a code -> the same without a process */
	struct map processes;  /* pid -> enum process_state, as of the last script_names_let_go() */
	struct recent frames;  /* code, line -> number in the trace */
	struct pending *pending;
	size_t pending_count, pending_capacity;
	struct map pending_frames; /* struct place -> frame */
	uint32_t waiting;	   /* frame of script_names_waiting(), + 1; 0: not written yet */
	struct error *failed; /* the writer's first error, for script_names_frame() to return */
	uint64_t next_place;  /* offsets are never used twice in a trace */
	XXH64_hash_t seed; /* random, so that a process cannot make two codes have the same hash */
	struct buffer room, bytes_room;
};

struct script_names *script_names_new(const struct script_names_options *options)
{
	struct script_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->options = *options;
	n->seed = hash_seed();
	recent_init(&n->frames, 2, FRAMES_MAX);
	return n;
}

/* Frames that were defined in the trace stay valid. */
static void forget_codes(struct script_names *n)
{
	arena_release(&n->texts);
	map_release(&n->identities);
	map_release(&n->processes);
	map_release(&n->contents);
	recent_release(&n->frames);
	n->count = n->bytes = 0;
}

void script_names_free(struct script_names *n)
{
	if (!n)
		return;
	forget_codes(n);
	free(n->codes);
	free(n->pending);
	map_release(&n->pending_frames);
	error_free(n->failed);
	buffer_release(&n->room);
	buffer_release(&n->bytes_room);
	free(n);
}

void script_names_set_writer(struct script_names *n, struct prf_writer *w)
{
	n->writer = w;
	n->pending_count = 0;
	n->next_place = 0;
	n->waiting = 0;
	map_release(&n->pending_frames);
	recent_release(&n->frames);
}

/* -------- texts -------- */

/*
 * The bytes of a text: those of the record, or else what can still be read from the process. Valid
 * until the next call.
 */
static const uint8_t *gather(struct script_names *n, const struct script_name *name,
			     struct script_text *text, size_t most, const uint8_t *captured,
			     size_t *size)
{
	uint8_t *room;
	size_t there;

	*size = text->captured;
	if ((text->data && text->captured >= text->bytes) || !n->options.read)
		return captured;
	buffer_clear(&n->bytes_room);
	room = buffer_extend(&n->bytes_room, most);
	there = room ? n->options.read(n->options.context, name, text, room, most) : 0;
	if (!there)
		return captured;
	*size = there;
	return room;
}

/* What is `cut` within a character ends before it. */
static void append_utf8(struct script_names *n, const uint8_t *bytes, size_t size, bool cut)
{
	char character[5] = { 0 };

	for (size_t at = 0, length; at < size; at += length) {
		size_t left = size - at < 4 ? size - at : 4;

		memcpy(character, bytes + at, left);
		character[left] = 0;
		length = utf8_length(character);
		if (!length && cut && size - at < 4 && bytes[at] >= 0xc2)
			break;
		if (length) {
			buffer_append(&n->room, character, length);
		} else {
			utf8_append_character(&n->room, 0);
			length = 1;
		}
	}
}

/* In UTF-8, appended with its NUL; false: there is no such text. */
static bool append_text(struct script_names *n, const struct script_name *name,
			struct script_text *text, const uint8_t *captured)
{
	size_t size;
	const uint8_t *bytes = gather(n, name, text, TEXT_MAX, captured, &size);
	struct cursor c;

	/* That of a class without a name goes on with where it is. */
	if (text == &name->table)
		text->bytes = (uint32_t)(size = strnlen((const char *)bytes, size));
	c = cursor_over(bytes, size);
	if (!size || (text->width != 1 && text->width != 2 && text->width != 4 &&
		      text->width != SCRIPT_UTF8))
		return false;
	if (text->width == SCRIPT_UTF8)
		append_utf8(n, bytes, size, size < text->bytes);
	while (text->width != SCRIPT_UTF8 && cursor_left(&c) >= text->width)
		utf8_append_character(&n->room, text->width == 1   ? cursor_u8(&c)
						: text->width == 2 ? cursor_u16(&c)
								   : cursor_u32(&c));
	if (size < text->bytes)
		buffer_append(&n->room, "...", 3);
	buffer_u8(&n->room, 0);
	return buffer_ok(&n->room);
}

/*
 * The name of a function, after that of its class where it has one, appended with its NUL. `file`:
 * what has no name is a file.
 */
static bool append_function(struct script_names *n, struct script_name *name, bool file)
{
	const uint8_t *class = name->bytes + name->name.captured + name->file.captured;

	if (!name->name.address && !name->name.data && file) {
		buffer_append(&n->room, TOP_LEVEL, sizeof(TOP_LEVEL));
		return buffer_ok(&n->room);
	}
	if (name->table_kind == SCRIPT_POSITION_IS_LINE && name->table.address) {
		if (!append_text(n, name, &name->table, class))
			return false;
		n->room.size--; /* the NUL */
		buffer_append(&n->room, "::", 2);
	}
	return append_text(n, name, &name->name, name->bytes);
}

/* -------- codes -------- */

/* The code in n->room: function, file, line table; `table` is where that begins. */
static struct code *keep_code(struct script_names *n, size_t file, size_t table,
			      const struct script_name *name)
{
	uint8_t *bytes;
	struct code *code;

	if (!array_reserve(&n->codes, &n->capacity, n->count + 1))
		return NULL;
	bytes = arena_take(&n->texts, n->room.size);
	if (!bytes)
		return NULL;
	memcpy(bytes, n->room.data, n->room.size);
	n->bytes += n->room.size;
	code = &n->codes[n->count++];
	*code = (struct code){
		.function = (char *)bytes,
		.file = (char *)bytes + file,
		.table_kind = name->table_kind,
		.lines = { .kind = name->table_kind,
			   .bytes = bytes + table,
			   .size = n->room.size - table,
			   .first = name->line },
	};
	return code;
}

/* The number of the code, which is added unless an equal one is known; 0: it has no name. */
static uint64_t find_code(struct script_names *n, struct script_name *name)
{
	struct {
		XXH128_hash_t text;
		uint32_t line, kind;
	} content = { .line = name->line, .kind = name->table_kind };
	const uint8_t *file_bytes = name->bytes + name->name.captured;
	const uint8_t *table_bytes = file_bytes + name->file.captured;
	bool has_file = name->file.address || name->file.data;
	size_t file, table, size;
	const uint8_t *lines;
	uint64_t *value;
	bool added;

	buffer_clear(&n->room);
	if (!append_function(n, name, has_file))
		return 0;
	file = n->room.size;
	/* Methods in C have no file, and nothing of Ruby's has a table. */
	if (!has_file || !append_text(n, name, &name->file, file_bytes))
		buffer_u8(&n->room, 0);
	table = n->room.size;
	if (name->table_kind != SCRIPT_POSITION_IS_LINE) {
		lines = gather(n, name, &name->table, TABLE_MAX, table_bytes, &size);
		buffer_append(&n->room, lines, size);
	}
	if (!buffer_ok(&n->room))
		return 0;
	content.text = XXH3_128bits_withSeed(n->room.data, n->room.size, n->seed);
	value = map_put(&n->contents, &content, sizeof(content), &added);
	if (value && added && keep_code(n, file, table, name))
		*value = n->count;
	return value ? *value : 0;
}

/* -------- frames -------- */

/* `unit`: where in the code, as its frames say. */
static uint32_t line_at(const struct code *code, uint32_t unit)
{
	return code->table_kind == SCRIPT_POSITION_IS_LINE ? unit
							   : python_lines_at(&code->lines, unit);
}

static struct error *write_name(struct script_names *n, const struct code *code, uint32_t line,
				uint32_t frame)
{
	struct prf_place place = {
		.function = code->function,
		.file = code->file,
		.line = line,
		.start_line = code->lines.first,
	};

	return prf_writer_names(n->writer, frame, &place, 1);
}

static struct error *define_frame(struct script_names *n, const char *path, uint64_t offset,
				  uint32_t *id)
{
	struct prf_object object = { .kind = PRF_OBJECT_SCRIPT, .path = path, .root = "" };
	struct prf_frame frame = { .flags = PRF_FRAME_EXACT, .offset = offset };
	struct error *error = prf_writer_object(n->writer, &object, &frame.object);

	return error ? error : prf_writer_frame(n->writer, &frame, id);
}

/* Of a code that is known. Frames of one line are one frame. */
static struct error *known_frame(struct script_names *n, uint32_t number, uint32_t unit,
				 uint32_t *id)
{
	const struct code *code = &n->codes[number - 1];
	const uint32_t line = line_at(code, unit), key[2] = { number, line };
	struct error *error;

	*id = recent_put(&n->frames, key, RECENT_NONE);
	if (*id != RECENT_NONE)
		return NULL;
	error = define_frame(n, code->file, ++n->next_place, id);
	if (!error)
		error = write_name(n, code, line, *id);
	if (!error && recent_put(&n->frames, key, *id) == RECENT_NONE)
		error = error_memory();
	return error;
}

/* Defines the frame of a place that may get a name later. */
static struct error *add_pending(struct script_names *n, const struct place *place, uint32_t *id)
{
	uint64_t *value;
	struct error *error;

	if (!array_reserve(&n->pending, &n->pending_capacity, n->pending_count + 1))
		return error_memory();
	error = define_frame(n, "[script]", ++n->next_place, id);
	if (error)
		return error;
	value = map_put(&n->pending_frames, place, sizeof(*place), NULL);
	if (!value)
		return error_memory();
	*value = *id;
	n->pending[n->pending_count++] = (struct pending){ *place, *id };
	return NULL;
}

static struct error *nameless_frame(struct script_names *n, const struct identity *identity,
				    uint32_t unit, uint32_t *id)
{
	const struct place place = { *identity, unit };
	const uint64_t *frame = map_get(&n->pending_frames, &place, sizeof(place));

	if (frame) {
		*id = (uint32_t)*frame;
		return NULL;
	}
	/* A cookie of 0: the code was not readable, and gets no name. */
	if (!identity->cookie || n->pending_count == PENDING_MAX)
		return define_frame(n, "[script]", 0, id);
	return add_pending(n, &place, id);
}

struct error *script_names_frame(struct script_names *n, const struct script_frame *frame,
				 uint32_t *id, bool *settled)
{
	struct identity identity = { frame->code & SCRIPT_CODE,
				     frame->position & ~SCRIPT_POSITION };
	uint32_t unit = (uint32_t)(frame->position & SCRIPT_POSITION);
	const uint64_t *number = map_get(&n->identities, &identity, sizeof(identity));
	struct error *error = n->failed;

	n->failed = NULL;
	*settled = number != NULL;
	if (error)
		return error;
	return number ? known_frame(n, (uint32_t)*number, unit, id)
		      : nameless_frame(n, &identity, unit, id);
}

struct error *script_names_waiting(struct script_names *n, uint32_t *id)
{
	const struct prf_place place = { .function = "[waiting for the GIL]", .file = "" };
	struct error *error = NULL;

	if (!n->waiting) {
		error = define_frame(n, "[waiting for the GIL]", 0, id);
		if (!error)
			error = prf_writer_names(n->writer, *id, &place, 1);
		n->waiting = error ? 0 : *id + 1;
	}
	*id = n->waiting - 1;
	return error;
}

/* The names of a code have arrived: its frames without a name get theirs. */
static void name_pending(struct script_names *n, const struct identity *identity, uint64_t number)
{
	const struct code *code = &n->codes[number - 1];
	struct error *error = n->failed;
	size_t left = 0;

	for (size_t i = 0; i < n->pending_count; i++) {
		const struct pending p = n->pending[i];
		const struct place *place = &p.place;

		if (error || place->identity.code != identity->code ||
		    place->identity.cookie != identity->cookie) {
			n->pending[left++] = p;
			continue;
		}
		error = write_name(n, code, line_at(code, (uint32_t)place->unit), p.frame);
		map_remove(&n->pending_frames, place, sizeof(*place));
	}
	n->pending_count = left;
	n->failed = error;
}

/* The record must hold all bytes that it announces. */
static bool is_name(const struct script_name *name, size_t size)
{
	size_t head = sizeof(*name) - SCRIPT_TEXTS_BYTES;

	return size >= head &&
	       (size_t)name->name.captured + name->file.captured + name->table.captured ==
		       size - head;
}

bool script_names_add(struct script_names *n, const void *data, size_t size)
{
	struct script_name room = { 0 }, *name = &room;
	struct identity identity;
	uint64_t number, *value;

	if (size > sizeof(room) || !is_name(data, size))
		return false;
	memcpy(&room, data, size); /* because texts are completed in it */
	if (n->count >= LIMIT_SCRIPT_FUNCTIONS || n->identities.count >= LIMIT_SCRIPT_FUNCTIONS ||
	    n->bytes >= LIMIT_SCRIPT_NAME_BYTES) {
		forget_codes(n);
		if (n->options.forgot)
			n->options.forgot(n->options.context);
	}
	number = find_code(n, name);
	if (!number)
		return false;
	identity = (struct identity){ name->code, name->cookie };
	value = map_put(&n->identities, &identity, sizeof(identity), NULL);
	if (!value)
		return false;
	*value = (uint64_t)name->pid << NUMBER_BITS | number;
	if (n->writer && n->pending_count)
		name_pending(n, &identity, number);
	return true;
}

struct letting_go {
	struct script_names *names;
	struct map processes;
	struct buffer identities; /* of processes that have ended */
};

static void look_at(const void *key, size_t size, uint64_t value, void *context)
{
	struct letting_go *l = context;
	struct script_names *n = l->names;
	uint32_t pid = (uint32_t)(value >> NUMBER_BITS);
	const uint64_t *before = map_get(&n->processes, &pid, sizeof(pid));
	bool added;
	uint64_t *now = map_put(&l->processes, &pid, sizeof(pid), &added);

	if (now && added)
		*now = n->options.lives(n->options.context, pid) ? PROCESS_LIVES : PROCESS_ENDED;
	if (now && *now == PROCESS_ENDED && before && *before == PROCESS_ENDED)
		buffer_append(&l->identities, key, size);
}

void script_names_let_go(struct script_names *n)
{
	struct letting_go l = { .names = n };

	map_each(&n->identities, look_at, &l);
	for (size_t i = 0; i + sizeof(struct identity) <= l.identities.size;
	     i += sizeof(struct identity))
		map_remove(&n->identities, l.identities.data + i, sizeof(struct identity));
	buffer_release(&l.identities);
	map_release(&n->processes);
	n->processes = l.processes;
}

size_t script_names_identities(const struct script_names *n)
{
	return n->identities.count;
}

size_t script_names_count(const struct script_names *n)
{
	return n->count;
}

size_t script_names_nameless(const struct script_names *n)
{
	return n->pending_count;
}
