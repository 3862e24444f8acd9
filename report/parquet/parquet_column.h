/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PARQUET_PARQUET_COLUMN_H
#define REPORT_PARQUET_PARQUET_COLUMN_H

/*
 * A column of one row group: its values are gathered, then encoded as a dictionary page and one
 * data page. Numbers of which most are different have no dictionary.
 *
 * Starts with the four fields that are the caller's; the others are 0.
 */

#include "common/error.h"
#include "report/parquet/dictionary.h"
#include "report/parquet/thrift.h"
#include "report/profile/text_pool.h"

enum parquet_type {
	PARQUET_TEXT, /* values are numbers of texts */
	PARQUET_U32,
	PARQUET_U64,
	PARQUET_TIME, /* signed, mostly ascending; no dictionary */
};

/* How many values a row has. */
enum parquet_count {
	PARQUET_ONE,
	PARQUET_MAYBE, /* none or one */
	PARQUET_MANY,
};

#define PARQUET_PATH_MAX 3

struct parquet_column {
	const char *path[PARQUET_PATH_MAX]; /* in the schema; the last ones may be NULL */
	enum parquet_type type;
	enum parquet_count values;
	const struct text_pool *texts; /* of PARQUET_TEXT */

	struct dictionary dictionary;
	uint32_t *indices; /* of the values in the dictionary; PARQUET_TIME: not used */
	uint64_t *times;   /* PARQUET_TIME */
	size_t value_count, index_capacity, time_capacity;
	uint32_t *counts; /* values of each row, not with PARQUET_ONE */
	size_t row_count, row_capacity;
	bool failed; /* without memory */
};

void parquet_column_release(struct parquet_column *c);

/* How values are stored: parquet.thrift, enum Type. */
int parquet_column_stored_type(enum parquet_type type);

/* Forgets the values, keeps the memory. */
void parquet_column_clear(struct parquet_column *c);

/* Begins a row of so many values, which follow. Not with PARQUET_ONE. */
void parquet_column_row(struct parquet_column *c, uint32_t count);

/* Adds a value to the row; PARQUET_ONE: a row. */
void parquet_column_add(struct parquet_column *c, uint64_t value);

/* Adds `count` values again, those from the at-th value on; there must be so many. */
void parquet_column_add_again(struct parquet_column *c, size_t at, size_t count);

/* What the pages of a column are put together with. Starts as { 0 }. */
struct parquet_pages {
	struct buffer out;  /* the pages, as they are in the file */
	struct buffer body; /* of one page */
	void *compressor;   /* ZSTD_CCtx */
	bool too_large;	    /* a page does not fit its header */
};

void parquet_pages_release(struct parquet_pages *p);

/* Where the pages of a column are, and how large. */
struct parquet_chunk {
	uint64_t offset;		/* in the file */
	uint64_t data_offset;		/* of the data page */
	uint64_t stored_size, raw_size; /* with the headers */
	size_t levels;			/* values and rows without any */
	bool dictionary;
};

/* Puts the pages into pages->out, alone; `offset` is where they will be. ERROR_MEMORY, or
 * ERROR_LIMIT where a page's texts have more than 2 GB. */
struct error *parquet_column_encode(const struct parquet_column *c, uint64_t offset,
				    struct parquet_pages *pages,
				    struct parquet_chunk *chunk) ERROR_CHECKED;

/* Writes the struct ColumnMetaData of the footer. */
void parquet_column_describe(const struct parquet_column *c, const struct parquet_chunk *chunk,
			     struct thrift *t);

#endif
