/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_ELF_NEEDS_H
#define RECORD_UNWIND_ELF_NEEDS_H

/* What an ELF file says of the files that ld.so(8) maps for it. */

#include <stdbool.h>

#include "common/elf_file.h"

enum elf_need {
	ELF_NEED_INTERPRETER, /* a path */
	ELF_NEED_FOLDERS,     /* DT_RPATH or DT_RUNPATH: "a:b:$ORIGIN/c", before the libraries */
	ELF_NEED_LIBRARY,     /* DT_NEEDED: a name or a path */
};

/*
 * Calls `found` for each of them, with a text that stays as long as the file is open, until that
 * returns false. Texts are shorter than PATH_MAX; others are left out.
 */
void elf_needs_each(const struct elf_file *file,
		    bool (*found)(void *context, enum elf_need need, const char *text),
		    void *context);

#endif
