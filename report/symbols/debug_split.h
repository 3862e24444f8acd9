/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_SYMBOLS_DEBUG_SPLIT_H
#define REPORT_SYMBOLS_DEBUG_SPLIT_H

/*
 * Split DWARF: a skeleton unit in the main file names a .dwo file, or all units are in one
 * package, FILE.dwp, with an index by id. Files are opened when a unit is first asked
 * for, and the ids must be equal. A split unit belongs to the first skeleton with its id.
 *
 * Not by libdw, which takes 1.3 times as long, but knows no --sysroot, maps files without a guard
 * against SIGBUS, and has packages since 0.191 only (bench/README.md).
 */

#include <pthread.h>

#include "common/map.h"
#include "report/dwarf/debug_sections.h"
#include "report/symbols/debug_search.h"

struct split_file {
	struct found_file file;
	struct debug_sections sections;
};

struct debug_split {
	const struct debug_search *search;
	const char *main_path; /* of the file with the skeletons */
	pthread_mutex_t lock;
	struct map files;	    /* .dwo files by path, each opened once; NULL: it cannot be */
	struct split_file *package; /* NULL: none */
	bool package_tried;
};

void debug_split_init(struct debug_split *s, const struct debug_search *search,
		      const char *main_path);
void debug_split_release(struct debug_split *s);

/* For struct dwarf_lookup: `context` is a struct debug_split. From any thread. */
struct dwarf_unit *debug_split_unit(const struct dwarf_unit *skeleton, void *context);

#endif
