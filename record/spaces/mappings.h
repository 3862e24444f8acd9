/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_MAPPINGS_H
#define RECORD_SPACES_MAPPINGS_H

/*
 * What is mapped where in one address space, in order and without overlap. As in mmap(2), a new
 * mapping replaces what it covers; the parts of older ones that stick out on either side stay.
 *
 * They lie in blocks, so that an addition costs the same among many mappings as among few. Copies,
 * as a child's of its parent's, share the blocks in which they do not differ: one that is shared
 * never changes, but an addition makes new ones in its place.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Something that can be mapped. It begins with a struct mapped. */
struct object;
struct shares;

struct mapped {
	uint64_t users; /* mappings of it, in all blocks */
	bool again;	/* there are new ones, since somebody cleared this */
};

struct mapping {
	uint64_t start, end;
	uint64_t offset; /* of `start` in the file */
	struct object *object;
};

struct mapping_block;

/* Starts as { 0 }. */
struct mappings {
	struct mapping_block **blocks; /* by start; none is empty */
	size_t block_count, capacity;
	size_t n; /* mappings */
	/*
	 * Of whose share in bytes new blocks and their list are; NULL: of nobody's. It must outlive
	 * them.
	 */
	struct shares *shares;
	uint32_t payer;
	uint64_t paid; /* for the list of blocks */
};

void mappings_release(struct mappings *m);

/* From now on he pays for what is new. */
void mappings_charge(struct mappings *m, struct shares *shares, uint32_t payer);

/* What one addition may take of the share. */
uint64_t mappings_addition_bytes(const struct mappings *m);

/* Where one is among the others. Starts as { 0 }. */
struct mapping_cursor {
	size_t block, at;
};

/* The next mapping, by start; NULL: that was the last one. Valid until the next addition. */
const struct mapping *mappings_next(const struct mappings *m, struct mapping_cursor *cursor);

/* The mapping that holds an address, or NULL. */
const struct mapping *mappings_find(const struct mappings *m, uint64_t address);

/*
 * False if exactly this mapping is there already: at the start /proc and the side band both report
 * it.
 */
bool mappings_are_changed_by(const struct mappings *m, const struct mapping *mapping);

/* Whether nothing else than the mapping's own object is mapped where it will be. */
bool mappings_have_room_for(const struct mappings *m, const struct mapping *mapping);

/*
 * Adds a mapping; one of no bytes changes nothing, and without an object nothing is mapped there
 * any more. False without memory; then nothing has changed.
 */
bool mappings_add(struct mappings *m, const struct mapping *mapping);

/* `to` becomes equal to `from`; who pays for it stays. False without memory. */
bool mappings_copy(struct mappings *to, const struct mappings *from);

#endif
