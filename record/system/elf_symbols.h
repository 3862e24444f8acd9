/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYSTEM_ELF_SYMBOLS_H
#define RECORD_SYSTEM_ELF_SYMBOLS_H

/*
 * Just enough of symbol tables for the recorder: where a probe's symbol lies, and the names
 * of code whose file the report will never see. The report has a better reader.
 */

#include "common/elf_file.h"
#include "common/error.h"

/* A function, in file offsets. */
struct elf_symbol {
	uint64_t start, size;
	const char *name; /* in the file */
};

struct elf_symbols {
	/* Sorted by start; the first of a place has the name that is preferred. */
	struct elf_symbol *symbols;
	size_t n, capacity;
	/* What was read, also if that ended in an error. */
	uint64_t entries;    /* of the tables, whether or not of a function */
	uint64_t name_bytes; /* each name as often as a symbol has it */
};

/*
 * Reads .symtab and .dynsym of an open file, which must stay open. More than
 * LIMIT_SYMBOLS or LIMIT_SYMBOL_NAME_BYTES of common/limits.h is an ERROR_LIMIT.
 */
struct error *elf_symbols_read(struct elf_symbols *s, const struct elf_file *file);

/* The same, if elf_symbols_cost() is at most this. */
struct error *elf_symbols_read_some(struct elf_symbols *s, const struct elf_file *file,
				    uint64_t most);

/* What was read, in entries: names cost as much as one more for each ELF_SYMBOLS_NAME_BYTES. */
#define ELF_SYMBOLS_NAME_BYTES 128
uint64_t elf_symbols_cost(const struct elf_symbols *s);
void elf_symbols_release(struct elf_symbols *s);

/* By name, or NULL; of versioned ones ("f@@V1"), the name is "f". */
const struct elf_symbol *elf_symbols_named(const struct elf_symbols *s, const char *name);

/*
 * Up to where code from the start of the `i`th symbol on has its name: at most up to the next
 * symbol. Its start, if the place has another name that is preferred.
 */
uint64_t elf_symbols_end(const struct elf_symbols *s, size_t i);

#endif
