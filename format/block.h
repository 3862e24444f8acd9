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
#include "format/prf.h"
#include "format/wire.h"

struct block_header {
	uint16_t type;
	uint16_t flags;
	uint32_t sequence;
	uint32_t stored_size;
	uint32_t raw_size;
	uint64_t checksum; /* of the stored payload */
};

/* Appends a whole block: header and payload, compressed when `level` > 0 and that is shorter. */
int block_encode(struct buffer *out, ZSTD_CCtx *zstd, int level, uint16_t type, uint16_t flags,
		 uint32_t sequence, const void *raw, size_t size);

/* False when these are not the bytes of a block header. */
bool block_header_decode(const uint8_t bytes[WIRE_BLOCK_HEADER_SIZE], struct block_header *h);

/*
 * Whether an intact header can be followed: PRF_OK, _CORRUPT when its sizes break a rule or
 * _UNSUPPORTED when it needs a newer reader. `reason` gets text when it is not PRF_OK.
 */
int block_header_check(const struct block_header *h, const char **reason);

/* PRF_OK, or _CORRUPT with the reason. */
int block_payload_check(const struct block_header *h, const uint8_t *stored, const char **reason);

/*
 * The payload's raw bytes: `stored` itself, or `room` filled. They stay as long as both.
 * PRF_ERROR_CORRUPT with the reason, or _MEMORY.
 */
int block_decompress(const struct block_header *h, ZSTD_DCtx *zstd, const uint8_t *stored,
		     struct buffer *room, const uint8_t **raw, const char **reason);

/* "samples", "objects", ...; "unknown" */
const char *block_type_name(uint32_t type);

#endif
