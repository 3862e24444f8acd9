/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_OBJECT_H
#define RECORD_SPACES_OBJECT_H

/*
 * Things that are mapped executable: files, the vDSO, anonymous memory. Equal ones are
 * stored once. What only the file itself can tell (build-id, size, time) is read when the
 * first sample hits it, while a process that maps it is likely to live.
 */

#include "format/prf.h"

struct objects;

/* `definition`'s text stays valid until objects_free(). */
struct object {
	struct prf_object definition;
	bool examined;
	uint64_t *hits; /* file offsets of code that samples hit, see object_hit() */
	size_t hit_count, hit_capacity;
	bool hits_full; /* no more are taken: to sort them costs more than they are worth */
};

struct objects *objects_new(void);
void objects_free(struct objects *o);

/*
 * The object of a mapping with this name, as /proc/PID/maps and MMAP2 records have it:
 * "/usr/bin/x", "[vdso]", "//anon", "". `known` gives root, build-id, deleted, device and
 * inode as far as they are known; its kind and path are not looked at. NULL without memory.
 */
struct object *objects_get(struct objects *o, const char *name, const struct prf_object *known);

/* Whether a mapping with this name is of no file: code in it was made at run time. */
bool object_is_made(const char *name, bool has_build_id);

/*
 * Completes a file's identity through a process that maps it at [start, end). A file that
 * is not provably the same one is left as it is.
 */
void object_examine(struct object *object, uint32_t pid, uint64_t start, uint64_t end);

/*
 * Notes that a sample hit the file at an offset, in case its names must be taken from it
 * while it can be had. The same one may stand in `hits`
 * more than once.
 */
void object_hit(struct object *object, uint64_t offset);

void objects_each(const struct objects *o, void (*visit)(struct object *object, void *context),
		  void *context);

#endif
