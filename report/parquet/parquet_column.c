/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/parquet/parquet_column.h"

#include "common/array.h"
#include "report/parquet/encoding.h"

#include <stdlib.h>
#include <zstd.h>

/* parquet.thrift: enums Type, Encoding, CompressionCodec and PageType. */
enum { TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_BYTE_ARRAY = 6 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_DICTIONARY = 8 };
enum { CODEC_ZSTD = 6 };
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };

/* Higher levels take longer than everything else here together, and save a tenth. */
#define ZSTD_LEVEL 1

int parquet_column_stored_type(enum parquet_type type)
{
	return type == PARQUET_TEXT  ? TYPE_BYTE_ARRAY
	       : type == PARQUET_U32 ? TYPE_INT32
				     : TYPE_INT64;
}

void parquet_column_release(struct parquet_column *c)
{
	dictionary_release(&c->dictionary);
	free(c->indices);
	free(c->times);
	free(c->counts);
}

void parquet_column_clear(struct parquet_column *c)
{
	dictionary_clear(&c->dictionary);
	c->value_count = c->row_count = 0;
}

void parquet_column_row(struct parquet_column *c, uint32_t count)
{
	if (!array_reserve(&c->counts, &c->row_capacity, c->row_count + 1))
		c->failed = true;
	else
		c->counts[c->row_count++] = count;
}

void parquet_column_add(struct parquet_column *c, uint64_t value)
{
	uint32_t index;

	if (c->type == PARQUET_TIME) {
		if (!array_reserve(&c->times, &c->time_capacity, c->value_count + 1))
			c->failed = true;
		else
			c->times[c->value_count++] = value;
		return;
	}
	index = dictionary_index(&c->dictionary, value);
	if (index == DICTIONARY_FULL ||
	    !array_reserve(&c->indices, &c->index_capacity, c->value_count + 1))
		c->failed = true;
	else
		c->indices[c->value_count++] = index;
}

void parquet_column_add_again(struct parquet_column *c, size_t at, size_t count)
{
	if (!array_reserve(&c->indices, &c->index_capacity, c->value_count + count)) {
		c->failed = true;
		return;
	}
	memcpy(c->indices + c->value_count, c->indices + at, count * sizeof(*c->indices));
	c->value_count += count;
}

/* -------- values -------- */

static unsigned int value_size(const struct parquet_column *c)
{
	return c->type == PARQUET_U32 ? 4 : 8;
}

/* The bytes that the indices take each. */
static unsigned int index_size(const struct parquet_column *c)
{
	size_t last = c->dictionary.count ? c->dictionary.count - 1 : 0;

	return last < 1u << 8 ? 1 : last < 1u << 16 ? 2 : last < 1u << 24 ? 3 : 4;
}

/* Whether dictionary and indices take less room than the values themselves. */
static bool wants_dictionary(const struct parquet_column *c)
{
	if (c->type == PARQUET_TIME || c->type == PARQUET_TEXT)
		return c->type == PARQUET_TEXT;
	return c->dictionary.count * value_size(c) + c->value_count * index_size(c) <
	       c->value_count * value_size(c);
}

static void put_plain(const struct parquet_column *c, uint64_t value, struct buffer *out)
{
	const char *text;

	if (c->type == PARQUET_U32) {
		buffer_u32(out, (uint32_t)value);
	} else if (c->type == PARQUET_U64) {
		buffer_u64(out, value);
	} else {
		text = text_pool_get(c->texts, (uint32_t)value);
		buffer_u32(out, (uint32_t)strlen(text));
		buffer_text(out, text);
	}
}

static void put_values(const struct parquet_column *c, bool dictionary, struct buffer *out)
{
	if (c->type == PARQUET_TIME) {
		encode_deltas(out, c->times, c->value_count);
	} else if (dictionary) {
		unsigned int size = index_size(c);

		buffer_u8(out, (uint8_t)(8 * size));
		if (c->dictionary.count == 1)
			encode_repeated(out, c->value_count, 0, size);
		else
			encode_indices(out, c->indices, c->value_count, size);
	} else {
		for (size_t i = 0; i < c->value_count; i++)
			put_plain(c, c->dictionary.keys[c->indices[i]], out);
	}
}

/* Levels have their size before them. */
static void put_levels(const struct parquet_column *c, struct buffer *out,
		       void (*encode)(struct buffer *b, const uint32_t *counts, size_t rows))
{
	size_t at = out->size, size;

	buffer_u32(out, 0);
	encode(out, c->counts, c->row_count);
	if (!buffer_ok(out))
		return;
	size = out->size - at - 4;
	for (unsigned int i = 0; i < 4; i++)
		out->data[at + i] = (uint8_t)(size >> 8 * i);
}

static size_t level_count(const struct parquet_column *c)
{
	size_t n = c->value_count;

	for (size_t i = 0; i < c->row_count; i++)
		n += !c->counts[i];
	return n;
}

/* -------- pages -------- */

void parquet_pages_release(struct parquet_pages *p)
{
	buffer_release(&p->out);
	buffer_release(&p->body);
	ZSTD_freeCCtx(p->compressor);
}

/* parquet.thrift: struct DataPageHeader, or DictionaryPageHeader, which has its first two fields.
 */
static void put_page_kind(struct thrift *header, int page, size_t count, int encoding)
{
	struct thrift kind = thrift_nested(header, page == PAGE_DATA ? 5 : 7);

	thrift_i32(&kind, 1, (int32_t)count);
	thrift_i32(&kind, 2, encoding);
	if (page == PAGE_DATA) {
		thrift_i32(&kind, 3, ENCODING_RLE);
		thrift_i32(&kind, 4, ENCODING_RLE);
	}
	thrift_end(&kind);
}

/* Compresses pages->body, and appends it after its header; returns the page's size without that. */
static size_t put_page(struct parquet_pages *pages, int page, size_t count, int encoding)
{
	size_t room = ZSTD_compressBound(pages->body.size), stored, raw, at;
	struct buffer packed = { 0 };
	struct thrift header = thrift_begin(&pages->out);
	void *bytes = buffer_extend(&packed, room);

	stored = bytes ? ZSTD_compress2(pages->compressor, bytes, room, pages->body.data,
					pages->body.size)
		       : 0;
	if (!bytes || ZSTD_isError(stored)) {
		pages->out.failed = true;
		stored = 0;
	}
	pages->too_large |= pages->body.size > INT32_MAX || stored > INT32_MAX;
	at = pages->out.size;
	thrift_i32(&header, 1, page);
	thrift_i32(&header, 2, (int32_t)pages->body.size);
	thrift_i32(&header, 3, (int32_t)stored);
	put_page_kind(&header, page, count, encoding);
	thrift_end(&header);
	raw = pages->out.size - at + pages->body.size;
	buffer_append(&pages->out, bytes, stored);
	buffer_release(&packed);
	buffer_clear(&pages->body);
	return raw;
}

static size_t put_dictionary_page(const struct parquet_column *c, struct parquet_pages *pages)
{
	for (size_t i = 0; i < c->dictionary.count; i++)
		put_plain(c, c->dictionary.keys[i], &pages->body);
	return put_page(pages, PAGE_DICTIONARY, c->dictionary.count, ENCODING_PLAIN);
}

static size_t put_data_page(const struct parquet_column *c, struct parquet_pages *pages,
			    bool dictionary)
{
	int encoding = c->type == PARQUET_TIME ? ENCODING_DELTA
		       : dictionary	       ? ENCODING_DICTIONARY
					       : ENCODING_PLAIN;

	if (c->values == PARQUET_MANY)
		put_levels(c, &pages->body, encode_repetition);
	if (c->values != PARQUET_ONE)
		put_levels(c, &pages->body, encode_definition);
	put_values(c, dictionary, &pages->body);
	return put_page(pages, PAGE_DATA, level_count(c), encoding);
}

/* Checksums let every reader find what was damaged on the way. */
static bool begin_pages(struct parquet_pages *pages)
{
	if (pages->compressor)
		return true;
	pages->compressor = ZSTD_createCCtx();
	return pages->compressor &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(pages->compressor, ZSTD_c_compressionLevel,
						    ZSTD_LEVEL)) &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(pages->compressor, ZSTD_c_checksumFlag, 1));
}

struct error *parquet_column_encode(const struct parquet_column *c, uint64_t offset,
				    struct parquet_pages *pages, struct parquet_chunk *chunk)
{
	*chunk = (struct parquet_chunk){ .offset = offset,
					 .levels = level_count(c),
					 .dictionary = wants_dictionary(c) };
	buffer_clear(&pages->out);
	buffer_clear(&pages->body);
	if (c->failed || !begin_pages(pages))
		return error_memory();
	if (chunk->dictionary)
		chunk->raw_size = put_dictionary_page(c, pages);
	chunk->data_offset = offset + pages->out.size;
	chunk->raw_size += put_data_page(c, pages, chunk->dictionary);
	chunk->stored_size = pages->out.size;
	if (pages->too_large)
		return error_new(ERROR_LIMIT, "column %s: texts of more than 2 GB", c->path[0]);
	return buffer_ok(&pages->out) && buffer_ok(&pages->body) ? NULL : error_memory();
}

/* -------- the footer -------- */

/* parquet.thrift: struct Statistics. Readers of a window of time leave out the other groups. */
static void put_range(const struct parquet_column *c, struct thrift *t)
{
	struct thrift range = thrift_nested(t, 12);
	int64_t least = (int64_t)c->times[0], most = least;
	struct buffer bytes = { 0 };

	for (size_t i = 1; i < c->value_count; i++) {
		int64_t time = (int64_t)c->times[i];

		least = time < least ? time : least;
		most = time > most ? time : most;
	}
	buffer_u64(&bytes, (uint64_t)most);
	buffer_u64(&bytes, (uint64_t)least);
	if (buffer_ok(&bytes)) {
		thrift_bytes(&range, 5, bytes.data, 8);
		thrift_bytes(&range, 6, bytes.data + 8, 8);
	}
	thrift_end(&range);
	buffer_release(&bytes);
}

static void put_encodings(const struct parquet_column *c, const struct parquet_chunk *chunk,
			  struct thrift *t)
{
	thrift_list(t, 2, THRIFT_I32, chunk->dictionary ? 3 : 2);
	thrift_number(t->out, ENCODING_RLE);
	if (chunk->dictionary)
		thrift_number(t->out, ENCODING_DICTIONARY);
	thrift_number(t->out, c->type == PARQUET_TIME ? ENCODING_DELTA : ENCODING_PLAIN);
}

void parquet_column_describe(const struct parquet_column *c, const struct parquet_chunk *chunk,
			     struct thrift *t)
{
	size_t parts = 0;

	while (parts < PARQUET_PATH_MAX && c->path[parts])
		parts++;
	thrift_i32(t, 1, parquet_column_stored_type(c->type));
	put_encodings(c, chunk, t);
	thrift_list(t, 3, THRIFT_BINARY, parts);
	for (size_t i = 0; i < parts; i++)
		thrift_text(t->out, c->path[i]);
	thrift_i32(t, 4, CODEC_ZSTD);
	thrift_i64(t, 5, (int64_t)chunk->levels);
	thrift_i64(t, 6, (int64_t)chunk->raw_size);
	thrift_i64(t, 7, (int64_t)chunk->stored_size);
	thrift_i64(t, 9, (int64_t)chunk->data_offset);
	if (chunk->dictionary)
		thrift_i64(t, 11, (int64_t)chunk->offset);
	if (c->type == PARQUET_TIME && c->value_count)
		put_range(c, t);
}
