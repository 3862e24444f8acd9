/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_MAPPINGS_H
#define RECORD_SPACES_MAPPINGS_H

/*
 * What is mapped where in one address space, in order and without overlap. As in mmap(2), a new
 * mapping replaces what it covers; the parts of older ones that stick out on either side stay. How
 * many mappings are of an object is counted in the object.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Something that can be mapped. It begins with a struct mapped. */
struct object;

struct mapped {
	uint64_t users; /* mappings of it, in all of what is mapped anywhere */
	bool again;	/* there are new ones, since somebody cleared this */
};

struct mapping {
	uint64_t start, end;
	uint64_t offset; /* of `start` in the file */
	struct object *object;
};

/* Starts as { 0 }. */
struct mappings {
	struct mapping *list; /* by start */
	size_t n, capacity;
};

void mappings_release(struct mappings *m);

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
 * Adds a mapping; one of no bytes changes nothing. False without memory; then nothing has changed.
 */
bool mappings_add(struct mappings *m, const struct mapping *mapping);

/* `to` becomes equal to `from`. False without memory. */
bool mappings_copy(struct mappings *to, const struct mappings *from);

#endif
