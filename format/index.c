/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/index.h"

#include "common/sorted.h"

#include <inttypes.h>
#include <stdlib.h>

void index_release(struct index *index)
{
	free(index->spans);
	*index = (struct index){ 0 };
}

static void join(struct index_span *a, const struct index_span *b)
{
	a->from_ns = b->from_ns < a->from_ns ? b->from_ns : a->from_ns;
	a->to_ns = b->to_ns > a->to_ns ? b->to_ns : a->to_ns;
}

/* Joins each two spans: a recording of any length has between half and all of the spans. */
static void halve(struct index *index)
{
	for (size_t i = 0; i < index->count / 2; i++) {
		index->spans[i] = index->spans[2 * i];
		join(&index->spans[i], &index->spans[2 * i + 1]);
	}
	index->count /= 2;
	index->blocks_per_span *= 2;
	index->blocks = index->blocks_per_span;
}

bool index_add(struct index *index, uint64_t offset, uint64_t from_ns, uint64_t to_ns)
{
	struct index_span span = { offset, from_ns, to_ns };

	if (!index->spans) {
		index->spans = malloc(WIRE_INDEX_MAX * sizeof(*index->spans));
		if (!index->spans)
			return false;
		index->blocks_per_span = 1;
	}
	if (index->count && index->blocks < index->blocks_per_span) {
		join(&index->spans[index->count - 1], &span);
		index->blocks++;
		return true;
	}
	if (index->count == WIRE_INDEX_MAX)
		halve(index);
	index->spans[index->count++] = span;
	index->blocks = 1;
	return true;
}

void index_encode(struct buffer *out, const struct index *index)
{
	uint64_t offset = 0, from_ns = 0;

	buffer_uleb(out, index->count);
	for (size_t i = 0; i < index->count; i++) {
		const struct index_span *span = &index->spans[i];

		buffer_uleb(out, span->offset - offset);
		buffer_sleb(out, (int64_t)(span->from_ns - from_ns));
		buffer_uleb(out, span->to_ns - span->from_ns);
		offset = span->offset;
		from_ns = span->from_ns;
	}
}

struct error *index_decode(struct index *index, struct cursor *c)
{
	uint64_t count = cursor_uleb(c), offset = 0, from_ns = 0;

	index_release(index);
	if (!cursor_ok(c) || count > WIRE_INDEX_MAX)
		return error_new(ERROR_CORRUPT, "the index claims to have %" PRIu64 " spans",
				 count);
	index->spans = malloc(WIRE_INDEX_MAX * sizeof(*index->spans));
	if (!index->spans)
		return error_memory();
	for (size_t i = 0; i < count; i++) {
		uint64_t distance = cursor_uleb(c);

		if (distance > UINT64_MAX - offset || (i && !distance))
			cursor_fail(c);
		offset += distance;
		from_ns += (uint64_t)cursor_sleb(c);
		index->spans[i] = (struct index_span){ offset, from_ns, from_ns + cursor_uleb(c) };
	}
	if (!cursor_ok(c)) {
		index_release(index);
		return error_new(ERROR_CORRUPT, "the index ends early or its spans do not ascend");
	}
	index->count = count;
	return NULL;
}

bool index_wants(const struct index *index, uint64_t offset, uint64_t from_ns, uint64_t to_ns)
{
	size_t begun = sorted_up_to(index->spans, index->count,
				    SORTED_BY(struct index_span, offset), offset);

	/* Without an index, or before its first span, all is read. */
	if (!begun)
		return true;
	return index->spans[begun - 1].to_ns >= from_ns && index->spans[begun - 1].from_ns < to_ns;
}

void end_encode(struct buffer *out, const struct end *end)
{
	buffer_u64(out, end->index_offset);
	buffer_u64(out, end->blocks);
	buffer_u64(out, end->samples);
}

bool end_decode(struct cursor *c, struct end *end)
{
	end->index_offset = cursor_u64(c);
	end->blocks = cursor_u64(c);
	end->samples = cursor_u64(c);
	return cursor_ok(c);
}
