/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RUNTIMES_ELF_NAMES_H
#define RECORD_RUNTIMES_ELF_NAMES_H

/*
 * Addresses of functions and data that are known by name. Looking for a name that is not there is
 * cheap, since every file that a target maps is searched (ELF gABI, "Symbol Table"; the hash table
 * is the GNU one).
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

/*
 * Finds the names among dynamic symbols, and in .symtab if the file still has it. One that ends
 * with '*' stands for the first symbol that begins so.
 */
void elf_names_find(const struct elf_file *e, struct elf_name *names, size_t n);

/* All symbols of .symtab that begin with the name: from the first address to the last one's end. */
void elf_names_span(const struct elf_file *e, struct elf_name *name);

#endif
