/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_GO_FUNCTIONS_H
#define RECORD_UNWIND_GO_FUNCTIONS_H

/*
 * The table of functions that each Go program carries for its own tracebacks (.gopclntab), in
 * stripped programs, too: where functions begin, their names, and how large the frame is at each
 * pc. Of Go 1.16 and newer on 64-bit processors.
 *
 * All of it is hostile. Reading all functions and all their frames takes time linear in the size of
 * the table and of the code.
 *
 * Layout: Go's src/debug/gosym/pclntab.go and src/runtime/symtab.go.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/elf_file.h"

struct go_functions {
	struct cursor names, values, functions; /* parts of the table */
	uint64_t text;				/* that addresses are relative to */
	size_t count;
	uint8_t word;  /* bytes of an entry's fields: 4 or 8 */
	bool has_line; /* functions have the number of their first line, too */
};

struct go_function {
	uint64_t start, end; /* link-time addresses */
	const char *name;    /* in the file; "" if it has none */
	uint32_t frames;     /* where in `values` its frame sizes are */
	bool moves_sp;	     /* its code sets the stack pointer: the sizes say nothing */
};

/* Where a function's frame has one size: up to `end`. */
struct go_frame {
	struct cursor values;
	uint64_t end;
	int64_t size; /* bytes above the stack pointer, up to the return address */
};

/* False: the file has no such table, or none that is understood. */
bool go_functions_open(struct go_functions *g, const struct elf_file *e);

/* By number, in order of address. False: the table is damaged there. */
bool go_functions_get(const struct go_functions *g, size_t number, struct go_function *f);

/* The number of the function that covers the address; count: none does. */
size_t go_functions_at(const struct go_functions *g, uint64_t address);

/* The first frame size of a function, then the next one. False: there is none. */
bool go_frame_first(const struct go_functions *g, const struct go_function *f,
		    struct go_frame *frame);
bool go_frame_next(struct go_frame *frame);

#endif
