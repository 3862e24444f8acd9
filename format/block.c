/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block.h"

#include <string.h>
#include <xxhash.h>

#include "common/cursor.h"
#include "common/fuzzing.h"
#include "format/wire.h"

#define CHECKED (WIRE_BLOCK_HEADER_SIZE - 4)

static void header_put(uint8_t *at, const struct block_header *h)
{
	memcpy(at, WIRE_MARKER, WIRE_MARKER_SIZE);
	wire_put(at + 4, h->type, 2);
	wire_put(at + 6, h->flags, 2);
	wire_put(at + 8, h->sequence, 4);
	wire_put(at + 12, h->stored_size, 4);
	wire_put(at + 16, h->raw_size, 4);
	wire_put(at + 20, h->checksum, 8);
	wire_put(at + CHECKED, XXH3_64bits(at, CHECKED), 4);
}

/* What lies between two bounds becomes zstd blocks of its own, all in one frame. */
static size_t compress_pieces(ZSTD_CCtx *zstd, ZSTD_outBuffer *out, const struct payload *p)
{
	size_t count = p->plane_bound_count, from = 0;

	/* A bound at the very end divides nothing. */
	if (count && p->plane_bounds[count - 1] >= p->raw.size)
		count--;
	for (size_t i = 0; i <= count; i++) {
		size_t to = i < count ? p->plane_bounds[i] : p->raw.size, left;
		ZSTD_inBuffer in = { p->raw.data + from, to - from, 0 };

		left = ZSTD_compressStream2(zstd, out, &in, i < count ? ZSTD_e_flush : ZSTD_e_end);
		if (ZSTD_isError(left) || left || in.pos < in.size)
			return 0;
		from = to;
	}
	return out->pos;
}

/* Bytes written to `out`, or 0 when the payload had better be stored as it is. */
static size_t compress(ZSTD_outBuffer *out, const struct payload *p,
		       const struct block_options *options)
{
	ZSTD_CCtx *zstd = options->zstd;
	size_t result;

	if (options->level <= 0 || !p->raw.size)
		return 0;
	ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
	/* With the size known beforehand, zstd takes tables of that size and notes it in the frame.
	 */
	if (ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, options->level)) ||
	    ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(zstd, p->raw.size)))
		return 0;
	result = compress_pieces(zstd, out, p);
	/* What a reader would refuse as expanding too much is stored, too. */
	if (result >= p->raw.size || p->raw.size > wire_raw_limit(p->type, result))
		return 0;
	return result;
}

struct error *block_encode(struct buffer *out, const struct payload *payload,
			   const struct block_options *options)
{
	struct block_header h = { .type = payload->type,
				  .flags = options->flags,
				  .sequence = options->sequence };
	size_t start = out->size, size = payload->raw.size, stored;
	/* Each bound ends a zstd block early, which costs the header of another. */
	size_t room = ZSTD_compressBound(size) + 16 * PLANE_BOUNDS_MAX;
	uint8_t *at;

	if (size > WIRE_RAW_MAX)
		return error_new(ERROR_LIMIT, "a block of %zu bytes", size);
	at = buffer_extend(out, WIRE_BLOCK_HEADER_SIZE + room);
	if (!at)
		return error_memory();
	stored = compress(&(ZSTD_outBuffer){ at + WIRE_BLOCK_HEADER_SIZE, room, 0 }, payload,
			  options);
	if (stored) {
		h.flags |= WIRE_FLAG_ZSTD;
	} else {
		stored = size;
		if (size)
			memcpy(at + WIRE_BLOCK_HEADER_SIZE, payload->raw.data, size);
	}
	h.stored_size = (uint32_t)stored;
	h.raw_size = (uint32_t)size;
	h.checksum = XXH3_64bits(at + WIRE_BLOCK_HEADER_SIZE, stored);
	header_put(at, &h);
	out->size = start + WIRE_BLOCK_HEADER_SIZE + stored;
	return NULL;
}

bool block_header_decode(const uint8_t bytes[WIRE_BLOCK_HEADER_SIZE], struct block_header *h)
{
	struct cursor c = cursor_over(bytes, WIRE_BLOCK_HEADER_SIZE);

	if (memcmp(bytes, WIRE_MARKER, WIRE_MARKER_SIZE) != 0)
		return false;
	cursor_skip(&c, WIRE_MARKER_SIZE);
	h->type = cursor_u16(&c);
	h->flags = cursor_u16(&c);
	h->sequence = cursor_u32(&c);
	h->stored_size = cursor_u32(&c);
	h->raw_size = cursor_u32(&c);
	h->checksum = cursor_u64(&c);
	return FUZZING || cursor_u32(&c) == (uint32_t)XXH3_64bits(bytes, CHECKED);
}

struct error *block_header_check(const struct block_header *h)
{
	unsigned int unknown = h->flags & WIRE_FLAGS_CRITICAL & ~WIRE_FLAGS_KNOWN;

	if (unknown)
		return error_new(ERROR_UNSUPPORTED,
				 "block flags 0x%x, which this version does not know", unknown);
	if (h->stored_size > WIRE_STORED_MAX || h->raw_size > WIRE_RAW_MAX)
		return error_new(ERROR_CORRUPT, "stored size %u or raw size %u is above the limit",
				 h->stored_size, h->raw_size);
	if (!(h->flags & WIRE_FLAG_ZSTD) && h->stored_size != h->raw_size)
		return error_new(ERROR_CORRUPT,
				 "stored size %u differs from raw size %u without compression",
				 h->stored_size, h->raw_size);
	if (h->raw_size > wire_raw_limit(h->type, h->stored_size))
		return error_new(ERROR_CORRUPT, "%u stored bytes claim to expand to %u",
				 h->stored_size, h->raw_size);
	return NULL;
}

bool block_payload_intact(const struct block_header *h, const uint8_t *stored)
{
	return FUZZING || XXH3_64bits(stored, h->stored_size) == h->checksum;
}

struct error *block_decompress(const struct block_header *h, ZSTD_DCtx **zstd,
			       const uint8_t *stored, struct buffer *room, const uint8_t **raw)
{
	uint8_t *target;
	size_t size;

	if (!(h->flags & WIRE_FLAG_ZSTD)) {
		*raw = stored;
		return NULL;
	}
	buffer_clear(room);
	target = buffer_extend(room, h->raw_size);
	if (!*zstd)
		*zstd = ZSTD_createDCtx();
	if (!target || !*zstd)
		return error_memory();
	size = ZSTD_decompressDCtx(*zstd, target, h->raw_size, stored, h->stored_size);
	if (ZSTD_isError(size))
		return error_new(ERROR_CORRUPT, "the payload does not decompress");
	if (size != h->raw_size)
		return error_new(ERROR_CORRUPT, "the payload has %zu bytes instead of %u", size,
				 h->raw_size);
	*raw = target;
	return NULL;
}

const char *block_type_name(uint32_t type)
{
	static const char *const names[WIRE_TYPES] = {
		[WIRE_EVENTS] = "events",
		[WIRE_OBJECTS] = "objects",
		[WIRE_TASKS] = "tasks",
		[WIRE_FRAMES] = "frames",
		[WIRE_STACKS] = "stacks",
		[WIRE_SAMPLES] = "samples",
		[WIRE_LOSSES] = "losses",
		[WIRE_SYMBOLS] = "symbols",
		[WIRE_NAMES] = "names",
		[WIRE_METADATA] = "metadata",
		[WIRE_STATISTICS] = "statistics",
		[WIRE_INDEX] = "index",
		[WIRE_END] = "end",
		[WIRE_CODE] = "code",
		[WIRE_SOURCES] = "sources",
	};

	return type < WIRE_TYPES && names[type] ? names[type] : "unknown";
}
