/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PARQUET_PARQUET_FILE_H
#define REPORT_PARQUET_PARQUET_FILE_H

/*
 * A Parquet file (parquet.apache.org/docs/file-format), written row by row: rows are gathered to
 * row groups, in which each column is written by itself, and a footer says where everything is.
 * Memory holds one row group.
 *
 * Debian 12 has no library for it, in C or otherwise. What is written here is what a table of
 * samples needs: flat columns, lists and maps of texts, dictionaries, zstd. tests/fleet/ reads it
 * with other programs.
 */

#include "report/output/sink.h"
#include "report/parquet/parquet_column.h"

/* A row group ends after so many rows, or so many values of lists. */
#define PARQUET_ROWS_MAX 131072
#define PARQUET_VALUES_MAX (4u << 20)

enum parquet_shape {
	PARQUET_VALUE,
	PARQUET_OPTIONAL, /* a value or none */
	PARQUET_LIST,
	PARQUET_MAP, /* text to text: two columns, keys and values */
};

/* A field of the schema. */
struct parquet_field {
	const char *name;
	enum parquet_type type;
	enum parquet_shape shape;
};

struct parquet_file {
	struct sink *sink;
	const struct parquet_field *fields;
	size_t field_count;
	struct parquet_column *columns; /* one for each field, and two for a PARQUET_MAP */
	size_t column_count;
	struct text_pool texts;
	struct parquet_pages pages;
	uint64_t offset; /* in the file, where the next byte goes */
	uint64_t rows, group_rows;
	struct buffer groups; /* of the footer */
	size_t group_count;
	struct error *error; /* the first */
};

/* Begins a file; the fields must stay. To be released whatever comes. */
void parquet_file_begin(struct parquet_file *f, struct sink *sink,
			const struct parquet_field *fields, size_t n);
void parquet_file_release(struct parquet_file *f);

/* The number of a text for columns of texts; it must be UTF-8. */
uint32_t parquet_file_text(struct parquet_file *f, const char *text);

/* Ends a row, of which each column has got its values. */
void parquet_file_end_row(struct parquet_file *f);

/* Writes what is left and the footer; the first error there was, ERROR_MEMORY. */
struct error *parquet_file_end(struct parquet_file *f) ERROR_CHECKED;

#endif
