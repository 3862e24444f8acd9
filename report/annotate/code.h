/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_ANNOTATE_CODE_H
#define REPORT_ANNOTATE_CODE_H

/*
 * The code of functions as instructions, each with the source line that it belongs to. The bytes
 * come from the recorded file, never from one with another build-id.
 */

#include "common/error.h"
#include "report/annotate/disassembler.h"
#include "report/dwarf/dwarf_lookup.h"
#include "report/symbols/object_lookup.h"

/* An object, opened. Starts as { 0 }. */
struct code_file {
	const struct prf_object *object;
	struct debug_search search;
	struct object_lookup lookup; /* of the offsets that were asked for */
	struct object_lookup whole;  /* of the instructions and what they refer to */
	uint64_t *offsets;
};

/* A function of it. */
struct code {
	const char *name;	/* as in the symbol table; in the file */
	uint64_t address, size; /* link-time address */
	struct disassembly instructions;
};

/*
 * Opens the file that `n` sorted, distinct offsets lie in. ERROR_UNAVAILABLE: it is not code of a
 * file, or the file is gone or another one; the text says which.
 */
struct error *code_file_open(struct code_file *f, const struct debug_search *search,
			     const struct prf_object *object, const uint64_t *offsets,
			     size_t n) ERROR_CHECKED;
void code_file_release(struct code_file *f);

/* The link-time address of an offset. */
bool code_file_address(const struct code_file *f, uint64_t offset, uint64_t *address);

/*
 * The function around the i-th offset. ERROR_UNAVAILABLE: no table says where it begins and ends,
 * or it cannot be disassembled.
 */
struct error *code_file_function(struct code_file *f, size_t i, struct code *code) ERROR_CHECKED;
void code_release(struct code *code);

/*
 * After it: what is known of an instruction's source. `answer` is NULL where that is nothing.
 * Stays until the next code_file_function().
 */
struct error *code_file_lines(struct code_file *f, const struct code *code) ERROR_CHECKED;
const struct dwarf_answer *code_file_line(const struct code_file *f, uint64_t address);

/* The symbol that an address lies in, and how far; NULL: none is known. Likewise. */
const char *code_file_symbol(const struct code_file *f, uint64_t address, uint64_t *into);

#endif
