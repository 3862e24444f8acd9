/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_JAVA_HOTSPOT_SCOPES_H
#define RECORD_JAVA_HOTSPOT_SCOPES_H

/*
 * The debug information of HotSpot's code: which methods are inlined at a pc, and which line a
 * bytecode belongs to. The bytes come from a process that is not trusted.
 *
 * Numbers are in the UNSIGNED5 code (hotspot/share/code/compressedStream.cpp): up to five bytes of
 * which all but the last are among the 64 highest values; since JDK 20 no byte is 0.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cursor.h"

/* `no_zero`: the code of JDK 20 and later. The cursor fails when the bytes end too early. */
uint32_t hotspot_number(struct cursor *c, bool no_zero);

/* One method's part of a frame; `sender` is where its caller's part is, 0: it is the last one. */
struct hotspot_scope {
	uint32_t sender;
	uint32_t method; /* number in the nmethod's metadata, from 1 on; 0: none */
	int32_t bci;	 /* negative: before the first bytecode */
};

/* The scope at an offset of the scopes' data. False: there is none. */
bool hotspot_scope_at(const uint8_t *data, size_t size, bool no_zero, uint32_t offset,
		      struct hotspot_scope *scope);

/* The table of an nmethod's pcs: `count` PcDescs of `stride` bytes, as they are in memory. */
struct hotspot_pcs {
	const uint8_t *data;
	size_t count, stride;
	size_t pc, scope; /* where a PcDesc has them */
};

/*
 * Where the scope is that holds at an offset from the code's beginning: that of the first pc at
 * or after it which has information, as only calls and checks have. 0: none.
 */
uint32_t hotspot_pcs_find(const struct hotspot_pcs *pcs, uint32_t offset);

/*
 * The line of a bytecode by a method's compressed table, and the method's first line; 0 where
 * there is none.
 */
uint32_t hotspot_line_at(struct cursor table, bool no_zero, uint32_t bci, uint32_t *first);

#endif
