/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RUNTIMES_ELF_NAMES_H
#define RECORD_RUNTIMES_ELF_NAMES_H

/*
 * Where a file has a few things that are known by name: functions and data alike. Asking for a
 * name that is not there is cheap, as every file that a target maps is asked (ELF gABI, "Symbol
 * Table"; the hash table is the GNU one).
 */

#include <stdbool.h>
#include <stddef.h>

#include "common/elf_file.h"

struct elf_name {
	const char *name;
	uint64_t address, size; /* link-time; 0: not there */
};

/* Whether the file defines that dynamic symbol. */
bool elf_names_has(const struct elf_file *e, const char *name);

/* Finds the names among dynamic symbols, and among all where the file still has those. */
void elf_names_find(const struct elf_file *e, struct elf_name *names, size_t n);

#endif
