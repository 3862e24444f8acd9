/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_JAVA_HOTSPOT_READER_H
#define RECORD_JAVA_HOTSPOT_READER_H

/*
 * The structures of one Java process's machine: their fields by name, read through a cache, and
 * room for what is kept of them, which is limited.
 */

#include "common/arena.h"
#include "record/java/hotspot.h"
#include "record/runtimes/target_blocks.h"
#include "record/system/shares.h"

struct hotspot_reader {
	const struct hotspot *h;
	struct target_blocks *blocks;
	struct target_memory memory; /* through the blocks */
	uint64_t as_of;		     /* since when they are read */
	struct arena arena;
	uint64_t bytes; /* in it */
	struct shares *shares;
	uint32_t user;
};

/* As for hotspot_names_new(). False without memory. */
bool hotspot_reader_init(struct hotspot_reader *r, const struct hotspot *h, struct shares *shares,
			 uint32_t user);
void hotspot_reader_release(struct hotspot_reader *r);

/* See hotspot_names_as_of(). */
void hotspot_reader_as_of(struct hotspot_reader *r, uint64_t sample_ns);

/* Drops what is in the cache. */
void hotspot_reader_drop(struct hotspot_reader *r);

/* Offset of a field, which may be HOTSPOT_MISSING. */
uint64_t hotspot_reader_field(const struct hotspot_reader *r, enum hotspot_field name);
bool hotspot_reader_has(const struct hotspot_reader *r, enum hotspot_field name);

/* The field of 64, 32 or 16 bits of the structure at `object`. False: it cannot be read. */
bool hotspot_reader_u64(const struct hotspot_reader *r, uint64_t object, enum hotspot_field name,
			uint64_t *value);
bool hotspot_reader_u32(const struct hotspot_reader *r, uint64_t object, enum hotspot_field name,
			uint32_t *value);
bool hotspot_reader_u16(const struct hotspot_reader *r, uint64_t object, enum hotspot_field name,
			uint16_t *value);

/* Whether numbers are in the code of JDK 20 and later: see record/java/hotspot_scopes.h. */
bool hotspot_reader_no_zero(const struct hotspot_reader *r);

/* Room that is given back by hotspot_reader_release(); NULL: the limits are reached. */
void *hotspot_reader_take_room(struct hotspot_reader *r, size_t size);
const char *hotspot_reader_keep_text(struct hotspot_reader *r, const char *text);

#endif
