/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/header.h"

#include <string.h>
#include <xxhash.h>

#include "common/cursor.h"
#include "common/fuzzing.h"

#define CHECKED (WIRE_HEADER_SIZE - 8)

void header_encode(uint8_t bytes[WIRE_HEADER_SIZE])
{
	memcpy(bytes, WIRE_MAGIC, WIRE_MAGIC_SIZE);
	wire_put(bytes + 8, PRF_VERSION_MAJOR, 2);
	wire_put(bytes + 10, PRF_VERSION_MINOR, 2);
	wire_put(bytes + 12, 0, 4);
	wire_put(bytes + CHECKED, XXH3_64bits(bytes, CHECKED), 8);
}

struct error *header_decode(const uint8_t *bytes, size_t size, unsigned int *major,
			    unsigned int *minor)
{
	size_t compared = size < WIRE_MAGIC_SIZE ? size : WIRE_MAGIC_SIZE;
	struct cursor c = cursor_over(bytes, size);
	uint32_t flags;
	uint64_t checksum;

	/* The beginning of a magic number is a trace that was cut off, not another file. */
	if (!size || memcmp(bytes, WIRE_MAGIC, compared) != 0)
		return error_new(ERROR_NOT_A_TRACE,
				 size ? "the magic bytes are not there" : "there are no bytes");
	if (size < WIRE_HEADER_SIZE)
		return error_new(ERROR_TRUNCATED, "the bytes end inside the file header");
	cursor_skip(&c, WIRE_MAGIC_SIZE);
	*major = cursor_u16(&c);
	*minor = cursor_u16(&c);
	flags = cursor_u32(&c);
	checksum = cursor_u64(&c);
	if (!FUZZING && checksum != XXH3_64bits(bytes, CHECKED))
		return error_new(ERROR_CORRUPT, "file header checksum mismatch");
	if (*major != PRF_VERSION_MAJOR)
		return error_new(ERROR_UNSUPPORTED, "version %u.%u", *major, *minor);
	if (flags)
		return error_new(ERROR_UNSUPPORTED, "file header flags 0x%x", flags);
	return NULL;
}
