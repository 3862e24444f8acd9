/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_UNWINDER_H
#define RECORD_UNWIND_UNWINDER_H

/*
 * Keeps the kernel half's unwind tables (bpf/unwind.h) in step with the address spaces of
 * the targets. Whoever follows the address spaces reports what changed, in order of time;
 * the calls only note it (and open files that are new). unwinder_flush() then publishes the
 * processes that changed; files that are not known yet are built by a worker thread, which
 * publishes them when they are ready. Until then their code counts as having no table.
 *
 * Any thread may call these functions; nothing here prints.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/capture/unwinder_maps.h"
#include "record/unwind/unwinder_mapping.h"

struct unwinder;

struct unwinder_file {
	const char *path;
	uint64_t rows, bytes, build_ns;
	const char *problem; /* NULL, or why there is no table: static text */
	bool refused;	     /* its stacks are cut off; else frame pointers are tried */
};

struct unwinder_options {
	struct unwinder_maps maps;
	uint64_t memory_limit; /* of table bytes in the kernel; 0: 256 MiB */
	/*
	 * Called from the worker after each file, when not NULL: for -v, and to warn of files
	 * that got no table.
	 */
	void (*built)(const struct unwinder_file *file, void *context);
	void *context;
};

/* 0, or a negative errno. */
int unwinder_new(struct unwinder **unwinder, const struct unwinder_options *options);
/* Stops the worker. The tables stay as they are until the maps are closed. */
void unwinder_free(struct unwinder *u);

void unwinder_map(struct unwinder *u, const struct unwinder_mapping *mapping);

/* Nothing executable is mapped there any more. */
void unwinder_unmap(struct unwinder *u, uint32_t pid, uint64_t start, uint64_t end);

/* The child has its parent's mappings. The kernel half did the same at the fork itself. */
void unwinder_fork(struct unwinder *u, uint32_t parent, uint32_t child);
/* All mappings are gone; the new ones follow. */
void unwinder_exec(struct unwinder *u, uint32_t pid);
void unwinder_exit(struct unwinder *u, uint32_t pid);

/* Whether anything was reported of the process. */
bool unwinder_knows(struct unwinder *u, uint32_t pid);

/* Publishes what changed. To be called after each batch of the calls above. */
void unwinder_flush(struct unwinder *u);

/*
 * Builds the tables of a program and the libraries it needs before it is started, as far as
 * they can be found, and waits for them, at most `limit_ns`.
 */
void unwinder_prepare(struct unwinder *u, const char *path, uint64_t limit_ns);

/* Waits until all files known so far are built, at most `limit_ns`. True when they are. */
bool unwinder_settle(struct unwinder *u, uint64_t limit_ns);

/* An fd of the file with that build-id, to be closed by the caller, even if it has no name any
 * more; or -1. */
int unwinder_open_file(struct unwinder *u, const uint8_t *build_id, size_t size);

struct unwinder_totals {
	uint64_t files, rows, rules, slabs, table_bytes;
	uint64_t processes, segments;
	uint64_t build_ns;
	uint64_t dropped;	  /* files whose tables were given back to stay within the limit */
	uint64_t refused;	  /* files that got no table although they may have information */
	uint64_t short_of_memory; /* of the refused: those for want of memory */
	uint64_t failed;	  /* files without usable unwind information */
};
void unwinder_totals(struct unwinder *u, struct unwinder_totals *totals);

#endif
