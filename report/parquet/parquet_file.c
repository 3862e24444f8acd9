/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/parquet/parquet_file.h"

#include <stdlib.h>

#define MAGIC "PAR1"

/* parquet.thrift: enums FieldRepetitionType and ConvertedType. */
enum { REQUIRED, OPTIONAL, REPEATED };
enum { UTF8 = 0, MAP = 1, LIST = 3, UINT_32 = 13, UINT_64 = 14 };

static void put_bytes(struct parquet_file *f, const void *data, size_t size)
{
	sink_bytes(f->sink, data, size);
	f->offset += size;
}

static void note_error(struct parquet_file *f, struct error *error)
{
	if (f->error)
		error_free(error);
	else
		f->error = error;
}

static void set_columns(struct parquet_column *c, const struct parquet_field *field)
{
	c->path[0] = field->name;
	c->type = field->type;
	c->values = field->shape == PARQUET_VALUE      ? PARQUET_ONE
		    : field->shape == PARQUET_OPTIONAL ? PARQUET_MAYBE
						       : PARQUET_MANY;
	if (field->shape == PARQUET_LIST) {
		c->path[1] = "list";
		c->path[2] = "element";
	} else if (field->shape == PARQUET_MAP) {
		c->path[1] = "key_value";
		c->path[2] = "key";
		c[1] = c[0];
		c[1].path[2] = "value";
	}
}

void parquet_file_begin(struct parquet_file *f, struct sink *sink,
			const struct parquet_field *fields, size_t n)
{
	*f = (struct parquet_file){ .sink = sink, .fields = fields, .field_count = n };
	f->columns = calloc(2 * n, sizeof(*f->columns));
	if (!f->columns)
		note_error(f, error_memory());
	for (size_t i = 0; f->columns && i < n; i++) {
		struct parquet_column *c = &f->columns[f->column_count];
		bool map = fields[i].shape == PARQUET_MAP;

		c->texts = &f->texts;
		set_columns(c, &fields[i]);
		f->column_count += map ? 2 : 1;
	}
	put_bytes(f, MAGIC, 4);
}

void parquet_file_release(struct parquet_file *f)
{
	for (size_t i = 0; i < f->column_count; i++)
		parquet_column_release(&f->columns[i]);
	free(f->columns);
	parquet_pages_release(&f->pages);
	text_pool_release(&f->texts);
	buffer_release(&f->groups);
	error_free(f->error);
	*f = (struct parquet_file){ 0 };
}

uint32_t parquet_file_text(struct parquet_file *f, const char *text)
{
	uint32_t id = text_pool_add(&f->texts, text);

	if (id == UINT32_MAX)
		note_error(f, error_memory());
	return id == UINT32_MAX ? 0 : id;
}

/* -------- row groups -------- */

/* Writes the column, and its ColumnChunk for the footer; returns its size. */
static struct parquet_chunk write_column(struct parquet_file *f, const struct parquet_column *c,
					 struct buffer *chunks)
{
	struct parquet_chunk chunk;
	struct thrift column = thrift_begin(chunks), metadata;

	note_error(f, parquet_column_encode(c, f->offset, &f->pages, &chunk));
	if (f->error)
		return chunk;
	put_bytes(f, f->pages.out.data, f->pages.out.size);
	thrift_i64(&column, 2, 0); /* file_offset, which is not used any more */
	metadata = thrift_nested(&column, 3);
	parquet_column_describe(c, &chunk, &metadata);
	thrift_end(&metadata);
	thrift_end(&column);
	return chunk;
}

static void write_group(struct parquet_file *f)
{
	struct thrift group = thrift_begin(&f->groups);
	uint64_t raw_size = 0, offset = f->offset;

	thrift_list(&group, 1, THRIFT_STRUCT, f->column_count);
	for (size_t i = 0; i < f->column_count && !f->error; i++) {
		raw_size += write_column(f, &f->columns[i], &f->groups).raw_size;
		parquet_column_clear(&f->columns[i]);
	}
	thrift_i64(&group, 2, (int64_t)raw_size);
	thrift_i64(&group, 3, (int64_t)f->group_rows);
	thrift_i64(&group, 5, (int64_t)offset);
	thrift_i64(&group, 6, (int64_t)(f->offset - offset));
	thrift_end(&group);
	f->group_count++;
	f->rows += f->group_rows;
	f->group_rows = 0;
}

/* Asked now and then only, so that it costs nothing. */
static bool has_many_values(const struct parquet_file *f)
{
	for (size_t i = 0; f->group_rows % 256 == 0 && i < f->column_count; i++)
		if (f->columns[i].value_count >= PARQUET_VALUES_MAX)
			return true;
	return false;
}

void parquet_file_end_row(struct parquet_file *f)
{
	if (!f->error && (++f->group_rows == PARQUET_ROWS_MAX || has_many_values(f)))
		write_group(f);
}

/* -------- the footer -------- */

/* A SchemaElement; -1 for what it does not have. */
struct element {
	const char *name;
	int type, repetition, children, converted;
};

static void put_element(struct buffer *out, struct element e)
{
	struct thrift t = thrift_begin(out);

	if (e.type >= 0)
		thrift_i32(&t, 1, e.type);
	if (e.repetition >= 0)
		thrift_i32(&t, 3, e.repetition);
	thrift_string(&t, 4, e.name);
	if (e.children >= 0)
		thrift_i32(&t, 5, e.children);
	if (e.converted >= 0)
		thrift_i32(&t, 6, e.converted);
	thrift_end(&t);
}

static void put_value(struct buffer *out, const char *name, enum parquet_type type, int repetition)
{
	const int converted = type == PARQUET_TEXT  ? UTF8
			      : type == PARQUET_U32 ? UINT_32
			      : type == PARQUET_U64 ? UINT_64
						    : -1;

	put_element(out, (struct element){ name, parquet_column_stored_type(type), repetition, -1,
					   converted });
}

/* The elements of a field, in the three levels that the specification has for lists and maps. */
static size_t put_field(struct buffer *out, const struct parquet_field *field)
{
	switch (field->shape) {
	case PARQUET_LIST:
		put_element(out, (struct element){ field->name, -1, REQUIRED, 1, LIST });
		put_element(out, (struct element){ "list", -1, REPEATED, 1, -1 });
		put_value(out, "element", field->type, REQUIRED);
		return 3;
	case PARQUET_MAP:
		put_element(out, (struct element){ field->name, -1, REQUIRED, 1, MAP });
		put_element(out, (struct element){ "key_value", -1, REPEATED, 2, -1 });
		put_value(out, "key", field->type, REQUIRED);
		put_value(out, "value", field->type, REQUIRED);
		return 4;
	case PARQUET_OPTIONAL: put_value(out, field->name, field->type, OPTIONAL); return 1;
	default: put_value(out, field->name, field->type, REQUIRED); return 1;
	}
}

static void put_schema(struct parquet_file *f, struct thrift *t)
{
	struct buffer elements = { 0 };
	size_t n = 1;

	put_element(&elements, (struct element){ "samples", -1, -1, (int)f->field_count, -1 });
	for (size_t i = 0; i < f->field_count; i++)
		n += put_field(&elements, &f->fields[i]);
	thrift_list(t, 2, THRIFT_STRUCT, n);
	buffer_append(t->out, elements.data, elements.size);
	t->out->failed |= elements.failed;
	buffer_release(&elements);
}

/* That statistics are in the order of the type: one TypeDefinedOrder for each column. */
static void put_orders(struct parquet_file *f, struct thrift *t)
{
	thrift_list(t, 7, THRIFT_STRUCT, f->column_count);
	for (size_t i = 0; i < f->column_count; i++) {
		struct thrift order = thrift_begin(t->out), by_type = thrift_nested(&order, 1);

		thrift_end(&by_type);
		thrift_end(&order);
	}
}

/* parquet.thrift: struct FileMetaData. */
static void write_footer(struct parquet_file *f)
{
	struct buffer footer = { 0 };
	struct thrift t = thrift_begin(&footer);

	thrift_i32(&t, 1, 1); /* version */
	put_schema(f, &t);
	thrift_i64(&t, 3, (int64_t)f->rows);
	thrift_list(&t, 4, THRIFT_STRUCT, f->group_count);
	buffer_append(&footer, f->groups.data, f->groups.size);
	thrift_string(&t, 6, "prof-report version " PROF_VERSION);
	put_orders(f, &t);
	thrift_end(&t);
	buffer_u32(&footer, (uint32_t)footer.size);
	buffer_text(&footer, MAGIC);
	if (buffer_ok(&footer) && buffer_ok(&f->groups))
		put_bytes(f, footer.data, footer.size);
	else
		note_error(f, error_memory());
	buffer_release(&footer);
}

struct error *parquet_file_end(struct parquet_file *f)
{
	struct error *error;

	if (f->group_rows && !f->error)
		write_group(f);
	if (!f->error)
		write_footer(f);
	error = f->error;
	f->error = NULL;
	return error;
}
