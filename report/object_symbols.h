/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_OBJECT_SYMBOLS_H
#define REPORT_OBJECT_SYMBOLS_H

/*
 * The functions of an ELF file by its symbol tables: .symtab and .dynsym in one sorted
 * array. Of several names for one address it keeps the one that people expect: sized before
 * unsized, global before weak before local. Starts as { 0 }.
 */

#include "common/elf_file.h"

struct object_symbol {
	uint64_t start, end; /* link-time addresses; end is where the name stops being true */
	const char *name;    /* in the file */
};

struct object_symbols {
	struct object_symbol *list; /* sorted by start; each start once */
	size_t count;
	bool has_symtab; /* there is a .symtab, not only what is dynamic */
};

/* 0 or a negative enum elf_error. The names point into the file, which must stay open. */
int object_symbols_read(struct object_symbols *s, const struct elf_file *file);
void object_symbols_release(struct object_symbols *s);

/* The symbol that holds a link-time address, or NULL. */
const struct object_symbol *object_symbols_find(const struct object_symbols *s, uint64_t address);

#endif
