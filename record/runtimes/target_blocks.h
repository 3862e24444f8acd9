/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RUNTIMES_TARGET_BLOCKS_H
#define RECORD_RUNTIMES_TARGET_BLOCKS_H

/*
 * A cache of a process's memory: reading the fields of structures that lie together takes one
 * system call, not one for each. It has what was read since it was emptied last, so what it says of
 * two fields may be from two moments.
 */

#include "record/runtimes/target_memory.h"

struct target_blocks;

/* The memory must outlive it. NULL without memory for itself. */
struct target_blocks *target_blocks_new(const struct target_memory *memory);
void target_blocks_free(struct target_blocks *b);

/* The same memory, read through the cache; valid until target_blocks_free(). */
struct target_memory target_blocks_memory(struct target_blocks *b);

/* From now on all is read again. */
void target_blocks_empty(struct target_blocks *b);

#endif
