/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SPACES_ROOTS_H
#define RECORD_SPACES_ROOTS_H

/*
 * The root directories of processes, as we see them. They are read when a process begins a
 * program and handed on to its children, so that the root of a process that has ended by the
 * time its mappings are looked at is known too. Starts as { 0 }.
 */

#include "common/map.h"

#include <stdint.h>

struct roots {
	struct map by_pid; /* -> path, on the heap */
};

void roots_release(struct roots *r);

/* "" for our own root, or when it is unknown. Valid until the next change. */
const char *roots_of(const struct roots *r, uint32_t pid);

/* Reads the root from /proc. Keeps the old value when the process is gone or there is no memory. */
void roots_read(struct roots *r, uint32_t pid);

void roots_fork(struct roots *r, uint32_t parent, uint32_t child);
void roots_remove(struct roots *r, uint32_t pid);

#endif
