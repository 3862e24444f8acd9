/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_SPACE_H
#define RECORD_SPACES_SPACE_H

/*
 * What is mapped executable where, in each process. A layout is one state of an address
 * space: it never changes once it was handed out under its id, so that whatever was worked
 * out for (layout, address) stays true, and a forked child simply has its parent's.
 */

#include "record/spaces/mappings.h"
#include "record/spaces/object.h"

struct layout {
	uint64_t id; /* never used twice */
	unsigned int users;
	bool made_code; /* maps executable memory that is no file: addresses mean another thing in
			   each process */
	struct mappings mappings; /* of objects */
};

struct spaces;

/* Objects must outlive the spaces. NULL without memory. */
struct spaces *spaces_new(void);
void spaces_free(struct spaces *s);

/* A process that nothing is known of gets an empty layout; so do those added here. 0 or -ENOMEM. */
int spaces_add(struct spaces *s, uint32_t pid);
bool spaces_knows(const struct spaces *s, uint32_t pid);
int spaces_map(struct spaces *s, uint32_t pid, const struct mapping *mapping);
int spaces_fork(struct spaces *s, uint32_t parent, uint32_t child);
int spaces_clear(struct spaces *s, uint32_t pid); /* exec */
void spaces_remove(struct spaces *s, uint32_t pid);

/* Calls `visit` for each process; it must not add or remove any. */
void spaces_each(const struct spaces *s, void (*visit)(uint32_t pid, void *context), void *context);

/* Valid until the next change of the same process; the empty layout for unknown ones. */
const struct layout *spaces_layout(const struct spaces *s, uint32_t pid);

#endif
