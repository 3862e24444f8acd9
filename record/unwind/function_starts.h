/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_FUNCTION_STARTS_H
#define RECORD_UNWIND_FUNCTION_STARTS_H

/*
 * Where the functions begin that have no unwind information: by symbols, by Go's table of
 * functions, and by the calls and the pointers to functions in all code of the file. x86-64.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/elf_file.h"
#include "record/system/elf_symbols.h"
#include "record/unwind/code_ranges.h"
#include "record/unwind/go_functions.h"

struct function_start {
	uint64_t address;
	const char *name; /* "": not known */
};

struct function_starts {
	struct function_start *all; /* sorted, one for each address */
	size_t n, capacity;
	struct elf_symbols symbols; /* own the names */
};

struct code_source {
	const struct elf_file *file;
	const struct code_ranges *code; /* all of it */
	const struct code_ranges *gaps; /* that without unwind information */
	const struct go_functions *go;	/* NULL: it is no Go program */
	const atomic_bool *stop; /* ends the search early, with fewer; NULL: nobody sets it */
};

static inline bool code_source_is_stopped(const atomic_bool *stop)
{
	return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

/* Those within the gaps. */
void function_starts_find(struct function_starts *s, const struct code_source *from);
void function_starts_release(struct function_starts *s);

/* The position of the first one at or after the address. */
size_t function_starts_next(const struct function_starts *s, uint64_t address);

#endif
