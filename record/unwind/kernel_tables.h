/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_KERNEL_TABLES_H
#define RECORD_UNWIND_KERNEL_TABLES_H

/*
 * The tables that the kernel half has: of which files they are, which processes find them, and
 * which are given back when another one does not fit. Calls are under the unwinder's lock.
 */

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "record/capture/unwinder_maps.h"
#include "record/unwind/code_files.h"
#include "record/unwind/publication.h"
#include "record/unwind/table_store.h"
#include "record/unwind/unwinder_totals.h"

struct kernel_tables {
	struct code_files files;
	struct publications published;
	struct table_store store; /* of one thread: see table_store.h */
	int keys_fd;		  /* the kernel half's map from files to tables */
	struct unwinder_totals totals;
};

/* Release it even after an error. `limit` is of bytes in slabs. */
struct error *kernel_tables_init(struct kernel_tables *t, const struct unwinder_maps *maps,
				 uint64_t limit);
void kernel_tables_release(struct kernel_tables *t);

/*
 * Takes over what became of a file that waited, whose table is in the store or could not be made,
 * and publishes the processes that map it.
 */
void kernel_tables_finish(struct kernel_tables *t, struct code_file *file,
			  const struct code_file *result);

/*
 * Nothing refers to the file any more. It is closed, and its number may be another's; the caller
 * drops the table and frees it.
 */
void kernel_tables_forget(struct kernel_tables *t, struct code_file *file);

/* For whom a table is made, and of whose share it is. */
struct beneficiary {
	uint32_t user, payer;
};

/*
 * Drops tables for a file's that does not fit, but none that several processes use, unless what
 * rests is enough, which others may be waiting for, too, or its pages may be side by side then. It
 * may fit when what rests has rested; false: it will not.
 */
bool kernel_tables_make_room(struct kernel_tables *t, const struct code_file *file,
			     const struct unwind_table *table, const struct beneficiary *whose);

#endif
