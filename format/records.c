/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/records.h"

#include <inttypes.h>

#include "format/block.h"
#include "format/fields.h"

/* -------- losses -------- */

void loss_encode(struct buffer *out, const struct prf_loss *loss)
{
	buffer_uleb(out, loss->reason);
	buffer_uleb(out, (uint32_t)(loss->cpu + 1));
	buffer_uleb(out, loss->from_ns);
	buffer_uleb(out, loss->to_ns - loss->from_ns);
	buffer_uleb(out, loss->count);
}

static struct error *loss_decode(struct cursor *c, struct prf_record *record)
{
	uint64_t reason = cursor_uleb(c);

	record->type = PRF_RECORD_LOSS;
	record->loss.reason = reason < PRF_LOSS_COUNT ? (enum prf_loss_reason)reason
						      : PRF_LOSS_OTHER;
	record->loss.cpu = u32_decode(c) - 1; /* 0 becomes PRF_NONE */
	record->loss.from_ns = cursor_uleb(c);
	record->loss.to_ns = record->loss.from_ns + cursor_uleb(c);
	record->loss.count = cursor_uleb(c);
	return NULL;
}

/* -------- symbols and names -------- */

/* What precedes the entries of a record: an id and how many entries there are. */
struct list {
	const char *of; /* "object": what the id is of */
	uint64_t id, n;
	size_t least_bytes; /* that an entry takes */
};

/* Reads it, and checks that the id was defined and that the entries can be there. */
static struct error *list_decode(struct list *list, struct cursor *c, uint64_t defined)
{
	list->id = cursor_uleb(c);
	list->n = cursor_uleb(c);
	if (!cursor_ok(c))
		return error_new(ERROR_CORRUPT, "it does not hold all fields");
	if (list->id >= defined)
		return error_new(ERROR_CORRUPT,
				 "its %s is %" PRIu64 ", but %" PRIu64 " are defined", list->of,
				 list->id, defined);
	if (list->n > cursor_left(c) / list->least_bytes)
		return error_new(ERROR_CORRUPT, "it has %" PRIu64 " entries in %zu bytes", list->n,
				 cursor_left(c));
	return NULL;
}

void symbols_encode(struct buffer *out, uint32_t object, const struct prf_symbol *symbols, size_t n)
{
	uint64_t before = 0;

	buffer_uleb(out, object);
	buffer_uleb(out, n);
	for (size_t i = 0; i < n; i++) {
		buffer_uleb(out, symbols[i].start - before);
		buffer_uleb(out, symbols[i].size);
		text_encode(out, symbols[i].name);
		before = symbols[i].start;
	}
}

static struct error *symbols_decode(struct records *r, struct cursor *c, const struct tables *t,
				    struct prf_record *record)
{
	struct list list = { .of = "object", .least_bytes = 3 };
	struct error *error = list_decode(&list, c, r->defined);
	struct prf_symbol *symbols;
	uint64_t start = 0;

	if (error)
		return error;
	buffer_clear(&r->room);
	symbols = buffer_extend(&r->room, list.n * sizeof(*symbols));
	if (!symbols)
		return error_memory();
	for (size_t i = 0; i < list.n; i++) {
		uint64_t distance = cursor_uleb(c);

		if (distance > UINT64_MAX - start)
			return error_new(ERROR_CORRUPT, "it has a symbol that starts beyond 2^64");
		start += distance;
		symbols[i].start = start;
		symbols[i].size = cursor_uleb(c);
		symbols[i].name = cursor_string(c);
	}
	record->type = PRF_RECORD_SYMBOLS;
	record->symbols.object = tables_object(t, list.id);
	record->symbols.symbols = symbols;
	record->symbols.n = list.n;
	return NULL;
}

void names_encode(struct buffer *out, uint32_t frame, const struct prf_place *places, size_t n)
{
	buffer_uleb(out, frame);
	buffer_uleb(out, n);
	for (size_t i = 0; i < n; i++) {
		text_encode(out, places[i].function);
		text_encode(out, places[i].file);
		buffer_uleb(out, places[i].line);
		buffer_uleb(out, places[i].start_line);
	}
}

static struct error *names_decode(struct records *r, struct cursor *c, const struct tables *t,
				  struct prf_record *record)
{
	struct list list = { .of = "frame", .least_bytes = 4 };
	struct error *error = list_decode(&list, c, r->defined);
	struct prf_place *places;

	if (error)
		return error;
	buffer_clear(&r->room);
	places = buffer_extend(&r->room, list.n * sizeof(*places));
	if (!places)
		return error_memory();
	for (size_t i = 0; i < list.n; i++) {
		places[i].function = cursor_string(c);
		places[i].file = cursor_string(c);
		places[i].line = u32_decode(c);
		places[i].start_line = u32_decode(c);
	}
	record->type = PRF_RECORD_NAMES;
	record->names.frame = tables_frame(t, list.id);
	record->names.places = places;
	record->names.n = list.n;
	return NULL;
}

/* -------- code and sources -------- */

void code_encode(struct buffer *out, const struct prf_code *code)
{
	uint64_t before = 0;

	buffer_uleb(out, code->object);
	buffer_uleb(out, code->line_count);
	buffer_uleb(out, code->symbol_count);
	buffer_uleb(out, code->offset);
	buffer_uleb(out, code->address);
	buffer_uleb(out, code->machine);
	text_encode(out, code->name);
	buffer_uleb(out, code->size);
	buffer_append(out, code->bytes, code->size);
	for (size_t i = 0; i < code->line_count; i++) {
		const struct prf_code_line *line = &code->lines[i];

		buffer_uleb(out, line->address - before);
		text_encode(out, line->function);
		text_encode(out, line->file);
		buffer_uleb(out, line->line);
		before = line->address;
	}
	before = 0;
	for (size_t i = 0; i < code->symbol_count; i++) {
		const struct prf_code_symbol *symbol = &code->symbols[i];

		buffer_uleb(out, symbol->address - before);
		buffer_uleb(out, symbol->into);
		text_encode(out, symbol->name);
		before = symbol->address;
	}
}

/* Adds the distance to the next address to the one before it; fails where that is beyond 2^64. */
static void next_address(struct cursor *c, uint64_t *address)
{
	uint64_t distance = cursor_uleb(c);

	if (distance > UINT64_MAX - *address)
		cursor_fail(c);
	else
		*address += distance;
}

static void code_lists_decode(struct cursor *c, const struct prf_code *code,
			      struct prf_code_line *lines, struct prf_code_symbol *symbols)
{
	uint64_t address = 0;

	for (size_t i = 0; i < code->line_count; i++) {
		next_address(c, &address);
		lines[i].address = address;
		lines[i].function = cursor_string(c);
		lines[i].file = cursor_string(c);
		lines[i].line = u32_decode(c);
	}
	address = 0;
	for (size_t i = 0; i < code->symbol_count; i++) {
		next_address(c, &address);
		symbols[i].address = address;
		symbols[i].into = cursor_uleb(c);
		symbols[i].name = cursor_string(c);
	}
}

static struct error *code_decode(struct records *r, struct cursor *c, const struct tables *t,
				 struct prf_record *record)
{
	struct list list = { .of = "object", .least_bytes = 4 };
	struct error *error = list_decode(&list, c, r->defined);
	struct prf_code *code = &record->code;
	uint8_t *room;

	if (error)
		return error;
	*code = (struct prf_code){ .object = tables_object(t, list.id), .line_count = list.n };
	code->symbol_count = cursor_uleb(c);
	if (code->symbol_count > cursor_left(c) / 3)
		return error_new(ERROR_CORRUPT, "it has %zu symbols in %zu bytes",
				 code->symbol_count, cursor_left(c));
	code->offset = cursor_uleb(c);
	code->address = cursor_uleb(c);
	code->machine = u32_decode(c);
	code->name = cursor_string(c);
	code->size = cursor_uleb(c);
	code->bytes = cursor_bytes(c, code->size);
	buffer_clear(&r->room);
	room = buffer_extend(&r->room, list.n * sizeof(*code->lines) +
					       code->symbol_count * sizeof(*code->symbols));
	if (!room)
		return error_memory();
	code->lines = (struct prf_code_line *)room;
	code->symbols = (struct prf_code_symbol *)(room + list.n * sizeof(*code->lines));
	code_lists_decode(c, code, (struct prf_code_line *)code->lines,
			  (struct prf_code_symbol *)code->symbols);
	record->type = PRF_RECORD_CODE;
	return NULL;
}

void source_encode(struct buffer *out, const struct prf_source *source)
{
	text_encode(out, source->path);
	buffer_uleb(out, source->first_line);
	buffer_uleb(out, source->n);
	for (size_t i = 0; i < source->n; i++)
		text_encode(out, source->lines[i]);
}

static struct error *source_decode(struct records *r, struct cursor *c, struct prf_record *record)
{
	struct prf_source *source = &record->source;
	const char **lines;

	*source = (struct prf_source){ .path = cursor_string(c), .first_line = u32_decode(c) };
	source->n = cursor_uleb(c);
	if (source->n > cursor_left(c))
		return error_new(ERROR_CORRUPT, "it has %zu lines in %zu bytes", source->n,
				 cursor_left(c));
	buffer_clear(&r->room);
	lines = buffer_extend(&r->room, source->n * sizeof(*lines));
	if (!lines)
		return error_memory();
	for (size_t i = 0; i < source->n; i++)
		lines[i] = cursor_string(c);
	source->lines = lines;
	record->type = PRF_RECORD_SOURCE;
	return NULL;
}

/* -------- metadata and statistics -------- */

void metadata_encode(struct buffer *out, const char *key, const char *value)
{
	text_encode(out, key);
	text_encode(out, value);
}

static struct error *metadata_decode(struct cursor *c, struct prf_record *record)
{
	record->type = PRF_RECORD_METADATA;
	record->metadata.key = cursor_string(c);
	record->metadata.value = cursor_string(c);
	return NULL;
}

void statistic_encode(struct buffer *out, const char *key, uint64_t value)
{
	text_encode(out, key);
	buffer_uleb(out, value);
}

static struct error *statistic_decode(struct cursor *c, struct prf_record *record)
{
	record->type = PRF_RECORD_STATISTIC;
	record->statistic.key = cursor_string(c);
	record->statistic.value = cursor_uleb(c);
	return NULL;
}

/* -------- payloads -------- */

void records_release(struct records *r)
{
	buffer_release(&r->room);
}

struct error *records_decode(struct records *r, uint32_t type, struct tables *t, struct cursor c)
{
	struct error *error = NULL;

	*r = (struct records){ .type = type, .room = r->room };
	if (type == WIRE_SYMBOLS || type == WIRE_NAMES || type == WIRE_CODE)
		r->defined = cursor_uleb(&c);
	if (!cursor_ok(&c))
		return error_new(ERROR_CORRUPT, "the number of objects or frames is missing");
	if (type == WIRE_SYMBOLS || type == WIRE_CODE)
		error = tables_expect_objects(t, r->defined);
	else if (type == WIRE_NAMES)
		error = tables_expect_frames(t, r->defined);
	if (!error)
		r->cursor = c;
	return error;
}

static struct error *decode_one(struct records *r, struct cursor *c, const struct tables *t,
				struct prf_record *record)
{
	switch (r->type) {
	case WIRE_LOSSES: return loss_decode(c, record);
	case WIRE_SYMBOLS: return symbols_decode(r, c, t, record);
	case WIRE_NAMES: return names_decode(r, c, t, record);
	case WIRE_CODE: return code_decode(r, c, t, record);
	case WIRE_SOURCES: return source_decode(r, c, record);
	case WIRE_METADATA: return metadata_decode(c, record);
	default: return statistic_decode(c, record);
	}
}

struct error *records_next(struct records *r, const struct tables *t, struct prf_record *record)
{
	struct error *error;
	struct cursor c;

	if (record_decode(&r->cursor, &c)) {
		error = decode_one(r, &c, t, record);
		if (!error && !cursor_ok(&c))
			error = error_new(ERROR_CORRUPT, "it does not hold all fields");
	} else {
		error = error_new(ERROR_CORRUPT, "it is longer than the block");
	}
	/* Where the next record would begin is known, but what else is wrong with it is not. */
	if (error)
		cursor_fail(&r->cursor);
	error = error_prefix(error, "record %" PRIu64 " of %s", r->taken, block_type_name(r->type));
	r->taken++;
	return error;
}
