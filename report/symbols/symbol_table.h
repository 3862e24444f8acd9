/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_SYMBOLS_SYMBOL_TABLE_H
#define REPORT_SYMBOLS_SYMBOL_TABLE_H

/*
 * Names of addresses from an ELF file's own tables. A table is not sorted: the addresses
 * are, and each symbol looks for those that it may name.
 *
 * Of several symbols at one place a function with a size comes first, then global and weak
 * before local ones, then the one with fewer leading underscores.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/elf_file.h"
#include "format/prf.h"

/* The name of an address; NULL when it has none yet. */
struct symbol_name {
	const char *name;
	uint64_t start, size; /* of the symbol; size 0: not known */
};

/* What is looked for: names of those addresses that have none yet. */
struct symbol_search {
	const uint64_t *addresses; /* sorted */
	size_t n;
	struct symbol_name *names; /* as many */
	struct arena *arena;	   /* for text that does not lie in the file */
};

/*
 * From the section `table`, ".symtab" or ".dynsym", without versions ("@@GLIBC_2.34").
 * False: there is no such table, or it is longer than LIMIT_SYMBOLS of common/limits.h.
 */
bool symbol_table_find(const struct elf_file *e, const char *table,
		       const struct symbol_search *search);

/* True when the file has a .symtab that is not read because of its length. */
bool symbol_table_too_large(const struct elf_file *e);

/* From symbols as a trace holds them, sorted by start. */
void symbol_list_find(const struct prf_symbol *symbols, size_t count,
		      const struct symbol_search *search);

/* "puts@plt" for the stubs through which other files' functions are called. */
void plt_find(const struct elf_file *e, const struct symbol_search *search);

/*
 * Takes names away that are of a symbol without a size, and from code that is not its function's by
 * the unwind table.
 */
void fde_bound(const struct elf_file *e, const struct symbol_search *search);

/*
 * "[libfoo.so.1+0x1234]" for code that has only an unwind table: 0x1234 is where the function
 * begins. `file` is the last part of the path.
 */
void fde_find(const struct elf_file *e, const char *file, const struct symbol_search *search);

/* The value of a symbol in .symtab. False: without such a symbol or table. */
bool symbol_table_value(const struct elf_file *e, const char *name, uint64_t *value);

#endif
