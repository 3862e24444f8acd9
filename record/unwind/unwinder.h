/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_UNWINDER_H
#define RECORD_UNWIND_UNWINDER_H

/*
 * Keeps the kernel half's unwind tables (bpf/abi/unwind.h) in step with the address spaces of the
 * targets. It listens to the newest spaces and notes what changed, and opens files that are new;
 * unwinder_flush() then publishes the processes that changed. The tables of new files are built
 * by a worker thread, which publishes them when they are ready. Until then their code counts as
 * having no table.
 *
 * Calls are from the thread of the spaces. Nothing here prints.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi/unwind.h"
#include "common/error.h"
#include "record/capture/unwinder_maps.h"
#include "record/spaces/space.h"
#include "record/unwind/unwinder_totals.h"

struct unwinder;

struct unwinder_file {
	const char *path;
	uint64_t rows, bytes, build_ns;
	const char *problem; /* NULL, or why there is no table: static text */
	bool lacks_rules;    /* for some of its code, as it has too many different ones */
};

struct unwinder_options {
	struct unwinder_maps maps;
	uint64_t memory_limit; /* of table bytes in the kernel; 0: 256 MiB */
	/*
	 * Called from the worker for each finished file, unless NULL: for -v, and for a warning
	 * about files without a table.
	 */
	void (*built)(const struct unwinder_file *file, void *context);
	void *context;
};

struct error *unwinder_new(struct unwinder **unwinder, const struct unwinder_options *options);
/* Stops the worker. The tables stay as they are until the maps are closed. */
void unwinder_free(struct unwinder *u);

/* Publishes these spaces from now on; they must outlive the unwinder. To be called once. */
struct error *unwinder_follow(struct unwinder *u, struct spaces *newest);

/* Publishes the changes. To be called after each batch of changes of the spaces. */
void unwinder_flush(struct unwinder *u);

/* A program that is about to be started will map the file: its table is begun. */
void unwinder_prepare(struct unwinder *u, const char *path);

/* Waits until all files known so far are built, at most `limit_ns`. True when they are. */
bool unwinder_settle(struct unwinder *u, uint64_t limit_ns);

/*
 * Since when some process maps a file whose table is being made, by its record's time; UINT64_MAX:
 * none does. Those that have waited since before `after_ns` do not count.
 */
uint64_t unwinder_waits_since(struct unwinder *u, uint64_t after_ns);

/* Sets the rule that holds at an address, by the tables that are there now. False: it has none. */
bool unwinder_rule(struct unwinder *u, const struct layout *layout, uint64_t address,
		   struct unwind_rule *rule);

/* Of whose share it is what costs something because of the file: see shares.h. */
uint32_t unwinder_payer(struct unwinder *u, const struct code_file *file);

/* An fd of the file, even if it has been removed; to be closed by the caller. -1: none. */
int unwinder_open_file(struct unwinder *u, const struct code_file *file);

/*
 * Reads code from the file of a mapping itself: what a process maps may be of a file system that
 * never answers. False: it is not open, as copies of files are not.
 */
bool unwinder_read_code(struct unwinder *u, const struct mapping *mapping, uint64_t address,
			void *bytes, size_t size);

/* What there is of a file, for the next process that maps it or for its names. */
enum unwinder_holds {
	UNWINDER_HOLDS_NOTHING, /* or a file that was removed, so that nobody can map it */
	UNWINDER_HOLDS_TABLE,	/* or will soon; the file could not be kept open */
	UNWINDER_HOLDS_FILE,
};
enum unwinder_holds unwinder_holds(struct unwinder *u, const struct code_file *file);

/*
 * Closes files that none of the objects is of, and drops their tables: the memory and the disk that
 * they take are not to grow for as long as programs are built, run and removed.
 */
void unwinder_forget_unused(struct unwinder *u, const struct objects *objects, uint64_t now_ns);

void unwinder_totals(struct unwinder *u, struct unwinder_totals *totals);

#endif
