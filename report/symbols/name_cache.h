/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_SYMBOLS_NAME_CACHE_H
#define REPORT_SYMBOLS_NAME_CACHE_H

/*
 * Answers from earlier runs: $XDG_CACHE_HOME/prof/BUILD-ID-OPTIONS, else in ~/.cache. A file
 * holds sorted offsets and their places, is mapped, and counts only when its checksum is right
 * and the files that the answers came from are still the same. Writers replace it at once
 * (rename), so any number of programs may run. When the folder grows above CACHE_BYTES_MAX,
 * the files that were not used for longest go.
 *
 * Layout, little-endian: "PRFNAMES", version, flags, identity of the files (8 bytes), number of
 * offsets, of places, of text bytes, 0 (4 bytes each); checksum (xxh3) of all the rest and of
 * the header before it; offsets (8 bytes each), first place of each offset and one more (4),
 * places (function, file, line, start line: 4 each), text with NULs.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/mapped_file.h"
#include "format/prf.h"
#include "report/symbols/place.h"

#define CACHE_BYTES_MAX (256u << 20)
#define CACHE_OFFSETS_MAX (1u << 20) /* of one file */

/* What answers depend on. */
struct name_cache_key {
	uint8_t build_id[PRF_BUILD_ID_MAX];
	uint8_t build_id_size;
	uint8_t flags;	   /* of the options */
	uint64_t identity; /* a hash over the files that were found */
};

/* An open file; starts as { 0 }. */
struct name_cache {
	struct mapped_file file;
	bool open;
	uint32_t offset_count, place_count, text_size;
	const uint8_t *offsets, *first, *places;
	const char *text;
};

/* True when there is one for the key, and it is sound. */
bool name_cache_open(struct name_cache *c, const struct name_cache_key *key);
/* The same for a file that is in memory, which must stay. */
bool name_cache_open_memory(struct name_cache *c, const struct name_cache_key *key,
			    const void *data, size_t size);
void name_cache_release(struct name_cache *c);

/* The number of an offset, or UINT32_MAX. */
uint32_t name_cache_find(const struct name_cache *c, uint64_t offset);
/* How many places offset number `i` has, and one of them; its `name` is NULL. */
uint32_t name_cache_places(const struct name_cache *c, uint32_t i);
struct symbolizer_place name_cache_place(const struct name_cache *c, uint32_t i, uint32_t place);

struct name_cache_answer {
	uint64_t offset;
	const struct symbolizer_place *places;
	uint32_t n;
};

/* Writes sorted answers, and those of `old` (may be NULL) for other offsets. */
void name_cache_store(const struct name_cache_key *key, const struct name_cache *old,
		      const struct name_cache_answer *answers, size_t n);

/*
 * Deletes the files that were not used for longest, down to three quarters of CACHE_BYTES_MAX, when
 * there is more than that. To be called after storing.
 */
void name_cache_trim(void);

#endif
