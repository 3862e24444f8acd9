/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_MAPPINGS_H
#define RECORD_SPACES_MAPPINGS_H

/*
 * What is mapped where in one address space, in order and without overlap. As in mmap(2), what
 * is mapped over another takes its place there; what sticks out of it on either side stays.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t start, end;
	uint64_t offset; /* of `start` in the file */
	union {		 /* what that is: one of them throughout a list */
		struct object *object;
		struct code_file *file; /* NULL: memory without a file */
	};
};

/* Starts as { 0 }. */
struct mappings {
	struct mapping *list; /* by start */
	size_t n, capacity;
};

void mappings_release(struct mappings *m);

/* The mapping that holds an address, or NULL. */
const struct mapping *mappings_find(const struct mappings *m, uint64_t address);

/* False when that very mapping is there: mappings are told twice at the start. */
bool mappings_are_changed_by(const struct mappings *m, const struct mapping *mapping);

/* 0, -EINVAL for a mapping of no bytes, or -ENOMEM. */
int mappings_add(struct mappings *m, const struct mapping *mapping);
int mappings_remove(struct mappings *m, uint64_t start, uint64_t end);

/* `to` becomes equal to `from`. 0 or -ENOMEM. */
int mappings_copy(struct mappings *to, const struct mappings *from);

#endif
