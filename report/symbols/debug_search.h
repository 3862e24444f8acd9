/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_SYMBOLS_DEBUG_SEARCH_H
#define REPORT_SYMBOLS_DEBUG_SEARCH_H

/*
 * Where the files are that names come from. Nothing is taken that cannot be shown to
 * belong: a build-id must be equal where one was recorded, else size and time of change.
 *
 * Recorded paths are opened within the process's root directory or --sysroot, so that
 * symbolic links there lead where they led for the process.
 *
 * Not by libdwfl, which knows no such roots, waits for ever at a pipe and may ask servers: it takes
 * the same time for a build-id and 15 times as long for a .gnu_debuglink (bench/README.md).
 */

#include <stdbool.h>

#include "common/elf_file.h"
#include "format/prf.h"
#include "report/symbols/place.h"

struct debug_search {
	const char *sysroot;		/* NULL: none */
	const char *const *directories; /* besides /usr/lib/debug; NULL-ended, or NULL */
};

/* An open ELF file and its path. Starts as { 0 }. */
struct found_file {
	struct elf_file elf;
	char *path; /* NULL: not found; of a refused file if the status says so */
	bool open;
	uint64_t size, changed_ns; /* of the file */
};

void found_file_release(struct found_file *f);

/*
 * The functions below look in several places. That one of them cannot be read is noted
 * (common/shortage.h) if the file is not found in another one.
 */

/* The recorded file itself. */
enum symbols_status debug_search_object(const struct debug_search *s,
					const struct prf_object *object, struct found_file *f);

/* The file of a build-id below the debug directories. */
bool debug_search_build_id(const struct debug_search *s, const uint8_t *build_id, size_t size,
			   struct found_file *f);

/*
 * The separate debug file of an object: by its build-id, else by the .gnu_debuglink of `main`
 * (which may be NULL, when only the build-id is known).
 */
bool debug_search_debug(const struct debug_search *s, const struct prf_object *object,
			const struct found_file *main, struct found_file *f);

/* The file that dwz moved common parts to, by the .gnu_debugaltlink of `from`. */
bool debug_search_alternate(const struct debug_search *s, const struct found_file *from,
			    struct found_file *f);

/* The debug information of the kernel with this build-id. */
bool debug_search_kernel(const struct debug_search *s, const struct prf_object *object,
			 struct found_file *f);

/*
 * Opens `path` to read as a process whose root directory is `root` would ("", "/" or NULL: this
 * one's own root), without waiting at a pipe; -1 with errno.
 */
int debug_search_open(const char *root, const char *path);

/* A path put together, to be freed; NULL without memory, which is noted (common/shortage.h). */
char *debug_search_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Opens a path that nothing is known about: no device, no pipe. */
bool found_file_open(struct found_file *f, const char *root, const char *path);

#endif
