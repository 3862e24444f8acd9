/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_DEBUG_FILE_H
#define RECORD_UNWIND_DEBUG_FILE_H

/*
 * The separate debug file of a program or library, which may have unwind information that the file
 * itself lacks (.debug_frame). It is looked for on this machine: by build-id in
 * /usr/lib/debug/.build-id, then by the name in .gnu_debuglink, in the file's folder, in .debug
 * there, and below /usr/lib/debug. Its build-id must be that of the file. The report has a better
 * search.
 */

#include <stdbool.h>

#include "common/elf_file.h"

/* Where a file is, and whose: a debug file must belong to the same user, or to root. */
struct debug_file_of {
	const char *path;
	uint32_t owner; /* as in record/unwind/code_files.h */
};

/* False: there is none. */
bool debug_file_open(struct elf_file *debug, const struct elf_file *file,
		     const struct debug_file_of *of);

#endif
