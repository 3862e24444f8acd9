/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_HEADER_H
#define FORMAT_HEADER_H

/* The first bytes of a trace (prf.5, "File header"). */

#include "format/prf.h"
#include "format/wire.h"

void header_encode(uint8_t bytes[WIRE_HEADER_SIZE]);

/*
 * From `size` bytes at the start of a trace. ERROR_NOT_A_TRACE, _TRUNCATED, _UNSUPPORTED for a
 * newer major version or an unknown flag, or _CORRUPT when only the checksum is wrong: then the
 * blocks after it may still be good. `major` and `minor` are set on success and _UNSUPPORTED.
 */
struct error *header_decode(const uint8_t *bytes, size_t size, unsigned int *major,
			    unsigned int *minor) ERROR_CHECKED;

#endif
