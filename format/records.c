/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/records.h"

#include "format/definitions.h"

/* -------- writing -------- */

void loss_encode(struct buffer *out, const struct prf_loss *loss)
{
	buffer_uleb(out, loss->reason);
	buffer_uleb(out, (uint32_t)(loss->cpu + 1));
	buffer_uleb(out, loss->from_ns);
	buffer_uleb(out, loss->to_ns - loss->from_ns);
	buffer_uleb(out, loss->count);
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

void metadata_encode(struct buffer *out, const char *key, const char *value)
{
	text_encode(out, key);
	text_encode(out, value);
}

void statistic_encode(struct buffer *out, const char *key, uint64_t value)
{
	text_encode(out, key);
	buffer_uleb(out, value);
}

/* -------- reading -------- */

void records_release(struct records *r)
{
	buffer_release(&r->room);
}

struct error *records_decode(struct records *r, uint32_t type, struct tables *t, struct cursor c)
{
	struct error *error = NULL;

	r->type = type;
	r->referred = 0;
	if (type == WIRE_SYMBOLS || type == WIRE_NAMES)
		r->referred = cursor_uleb(&c);
	if (!cursor_ok(&c))
		return error_new(ERROR_CORRUPT, "a record is broken");
	if (type == WIRE_SYMBOLS)
		error = tables_expect_objects(t, r->referred);
	else if (type == WIRE_NAMES)
		error = tables_expect_frames(t, r->referred);
	r->cursor = error ? cursor_over(NULL, 0) : c;
	return error;
}

static void loss_decode(struct cursor *c, struct prf_loss *loss)
{
	uint64_t reason = cursor_uleb(c), cpu = cursor_uleb(c);

	if (cpu > UINT32_MAX)
		cursor_fail(c);
	loss->reason = reason < PRF_LOSS_OTHER ? (enum prf_loss_reason)reason : PRF_LOSS_OTHER;
	loss->cpu = (uint32_t)cpu - 1;
	loss->from_ns = cursor_uleb(c);
	loss->to_ns = loss->from_ns + cursor_uleb(c);
	loss->count = cursor_uleb(c);
}

/* An id and a count, which the rest of the record can hold; room for that many entries. */
static void *list_decode(struct records *r, struct cursor *c, uint64_t *id, size_t *n,
			 size_t least_bytes, size_t entry_size)
{
	uint64_t count;

	*id = cursor_uleb(c);
	count = cursor_uleb(c);
	if (*id >= r->referred || count > cursor_left(c) / least_bytes)
		cursor_fail(c);
	*n = cursor_ok(c) ? count : 0;
	buffer_clear(&r->room);
	return buffer_extend(&r->room, *n * entry_size);
}

static struct error *symbols_decode(struct records *r, struct cursor *c, const struct tables *t,
				    struct prf_record *record)
{
	uint64_t object, start = 0;
	struct prf_symbol *symbols = list_decode(r, c, &object, &record->symbols.n, 3,
						 sizeof(*symbols));

	if (!symbols)
		return error_memory();
	for (size_t i = 0; i < record->symbols.n; i++) {
		uint64_t distance = cursor_uleb(c);

		if (distance > UINT64_MAX - start)
			cursor_fail(c);
		start += distance;
		symbols[i].start = start;
		symbols[i].size = cursor_uleb(c);
		symbols[i].name = cursor_string(c);
	}
	record->symbols.object = tables_object(t, object);
	record->symbols.symbols = symbols;
	return NULL;
}

static struct error *names_decode(struct records *r, struct cursor *c, const struct tables *t,
				  struct prf_record *record)
{
	uint64_t frame;
	struct prf_place *places = list_decode(r, c, &frame, &record->names.n, 4, sizeof(*places));

	if (!places)
		return error_memory();
	for (size_t i = 0; i < record->names.n; i++) {
		uint64_t line, start_line;

		places[i].function = cursor_string(c);
		places[i].file = cursor_string(c);
		line = cursor_uleb(c);
		start_line = cursor_uleb(c);
		if (line > UINT32_MAX || start_line > UINT32_MAX)
			cursor_fail(c);
		places[i].line = (uint32_t)line;
		places[i].start_line = (uint32_t)start_line;
	}
	record->names.frame = tables_frame(t, frame);
	record->names.places = places;
	return NULL;
}

static struct error *record_decode(struct records *r, struct cursor *c, const struct tables *t,
				   struct prf_record *record)
{
	switch (r->type) {
	case WIRE_LOSSES:
		record->type = PRF_RECORD_LOSS;
		loss_decode(c, &record->loss);
		return NULL;
	case WIRE_SYMBOLS:
		record->type = PRF_RECORD_SYMBOLS;
		return symbols_decode(r, c, t, record);
	case WIRE_NAMES: record->type = PRF_RECORD_NAMES; return names_decode(r, c, t, record);
	case WIRE_METADATA:
		record->type = PRF_RECORD_METADATA;
		record->metadata.key = cursor_string(c);
		record->metadata.value = cursor_string(c);
		return NULL;
	default:
		record->type = PRF_RECORD_STATISTIC;
		record->statistic.key = cursor_string(c);
		record->statistic.value = cursor_uleb(c);
		return NULL;
	}
}

struct error *records_next(struct records *r, const struct tables *t, struct prf_record *record)
{
	uint64_t size;
	const uint8_t *bytes;
	struct cursor c;
	struct error *error;

	size = cursor_uleb(&r->cursor);
	bytes = cursor_bytes(&r->cursor, size);
	c = cursor_over(bytes, bytes ? size : 0);
	error = record_decode(r, &c, t, record);
	if (error)
		return error;
	if (!cursor_ok(&r->cursor) || !cursor_ok(&c)) {
		cursor_fail(&r->cursor);
		return error_new(ERROR_CORRUPT, "a record is broken");
	}
	return NULL;
}
