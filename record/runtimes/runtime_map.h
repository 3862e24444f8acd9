/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RUNTIMES_RUNTIME_MAP_H
#define RECORD_RUNTIMES_RUNTIME_MAP_H

/*
 * The processes whose runtimes the kernel half walks, in its map `scripts`. There is room for
 * SCRIPT_MAX_PROCESSES of all runtimes together; the first one that finds none is reported.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi/runtimes.h"

struct runtime_map {
	int fd;	   /* -1: none; then nothing is done */
	bool any;  /* there was a process; before that the kernel is not asked */
	bool full; /* that, or that there was no memory, was reported */
	/* Called with one line for the user; or NULL. */
	void (*refused)(const char *text, void *context);
	void *context;
};

void runtime_map_put(struct runtime_map *m, uint32_t pid, const struct script_process *process);

/*
 * The runtime of the process, or SCRIPT_NONE. Forked children have a copy of their parent's entry,
 * which nobody has put there.
 */
enum script_runtime runtime_map_runtime(const struct runtime_map *m, uint32_t pid);

void runtime_map_remove(const struct runtime_map *m, uint32_t pid);

#endif
