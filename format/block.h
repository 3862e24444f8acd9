/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_BLOCK_H
#define FORMAT_BLOCK_H

/*
 * Blocks (prf.5, "Blocks"): a header of fixed size, then a payload that is stored as it is or
 * as one zstd frame. This page knows headers and payloads; where the bytes come from is
 * source.h's, where they go to compressor.h's.
 */

#include <stdbool.h>
#include <zstd.h>

#include "common/buffer.h"
#include "common/error.h"
#include "format/payload.h"
#include "format/wire.h"

struct block_header {
	uint16_t type;
	uint16_t flags;
	uint32_t sequence;
	uint32_t stored_size;
	uint32_t raw_size;
	uint64_t checksum; /* of the stored payload */
};

struct block_options {
	ZSTD_CCtx *zstd;
	int level; /* 0: not compressed, and no `zstd` is needed */
	uint16_t flags;
	uint32_t sequence;
};

/* Appends a whole block: header and payload, compressed when that is shorter. ERROR_LIMIT. */
struct error *block_encode(struct buffer *out, const struct payload *payload,
			   const struct block_options *options) ERROR_CHECKED;

/* False when these are not the bytes of a block header. */
bool block_header_decode(const uint8_t bytes[WIRE_BLOCK_HEADER_SIZE], struct block_header *h);

/*
 * Whether an intact header can be followed: ERROR_CORRUPT when its sizes break a rule,
 * ERROR_UNSUPPORTED when it needs a newer reader.
 */
struct error *block_header_check(const struct block_header *h) ERROR_CHECKED;

/* Whether the stored payload is the one that was written: compares its checksum. */
bool block_payload_intact(const struct block_header *h, const uint8_t *stored);

/*
 * The payload's raw bytes: `stored` itself, or `room` filled. They stay as long as both. `*zstd` is
 * made for the first payload that needs it, and is the caller's. ERROR_CORRUPT or ERROR_MEMORY.
 */
struct error *block_decompress(const struct block_header *h, ZSTD_DCtx **zstd,
			       const uint8_t *stored, struct buffer *room,
			       const uint8_t **raw) ERROR_CHECKED;

/* "samples", "objects", ...; "unknown" */
const char *block_type_name(uint32_t type);

#endif
