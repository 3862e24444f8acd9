/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_RECORDS_H
#define FORMAT_RECORDS_H

/*
 * Losses, symbols, names, code, sources, metadata and statistics (prf.5, "Records"): payloads of
 * records with their size before each, so that a later version can add fields at their ends.
 */

#include "common/buffer.h"
#include "format/tables.h"

/* One record, without its size. */
void loss_encode(struct buffer *out, const struct prf_loss *loss);
void symbols_encode(struct buffer *out, uint32_t object, const struct prf_symbol *symbols,
		    size_t n);
void names_encode(struct buffer *out, uint32_t frame, const struct prf_place *places, size_t n);
void code_encode(struct buffer *out, const struct prf_code *code);
void source_encode(struct buffer *out, const struct prf_source *source);
void metadata_encode(struct buffer *out, const char *key, const char *value);
void statistic_encode(struct buffer *out, const char *key, uint64_t value);

/* The records of one block, while they are handed out. Starts as { 0 }. */
struct records {
	uint32_t type; /* enum wire_type */
	struct cursor cursor;
	uint64_t defined;   /* how many objects or frames there are */
	uint64_t taken;	    /* records so far */
	struct buffer room; /* lists of the last record */
};

void records_release(struct records *r);

/* Begins with a payload of one of these types. ERROR_CORRUPT or _MEMORY. */
struct error *records_decode(struct records *r, uint32_t type, struct tables *t,
			     struct cursor c) ERROR_CHECKED;

/* Whether there is another record. */
static inline bool records_left(const struct records *r)
{
	return cursor_left(&r->cursor) > 0;
}

/* Fills `record`, which stays until the next call. ERROR_CORRUPT or _MEMORY. */
struct error *records_next(struct records *r, const struct tables *t,
			   struct prf_record *record) ERROR_CHECKED;

#endif
