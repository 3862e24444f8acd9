/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_ANNOTATE_CODE_H
#define REPORT_ANNOTATE_CODE_H

/*
 * The code of functions as instructions, each with the source line that it belongs to. The bytes
 * come from the recorded file, never from one with another build-id, or from the trace.
 */

#include "common/error.h"
#include "report/annotate/disassembler.h"
#include "report/symbols/object_lookup.h"

/* A function. What `recorded` points to belongs to the code_file, or to the trace. */
struct code {
	struct prf_code recorded; /* without the object's number */
	struct disassembly instructions;
	struct prf_code_line *lines;	 /* as in `recorded`, where they are this function's own */
	struct prf_code_symbol *symbols; /* likewise */
};

/* The functions of a file that some offsets lie in. Starts as { 0 }. */
struct code_file {
	const struct prf_object *object;
	struct debug_search search;
	struct object_lookup lookup; /* of the offsets that were asked for */
	struct object_lookup whole;  /* of the instructions and what they refer to */
	uint64_t *offsets;	     /* of `whole` */
	struct code *codes;	     /* in the order of the offsets */
	size_t count, capacity;
	size_t bytes;	       /* of all of them */
	struct error *missing; /* why some of the offsets are in none; NULL: all are */
};

/*
 * Opens the file of an object, and takes the functions around `n` sorted, distinct offsets; they
 * must stay. `missing` is ERROR_UNAVAILABLE: the object is no file, or the file is gone or another
 * one, or no table says where a function begins, or it cannot be disassembled.
 */
struct error *code_file_load(struct code_file *f, const struct debug_search *search,
			     const struct prf_object *object, const uint64_t *offsets,
			     size_t n) ERROR_CHECKED;
void code_file_release(struct code_file *f);

/* A function that the trace holds. ERROR_UNAVAILABLE: it cannot be disassembled. */
struct error *code_take(struct code *code, const struct prf_code *recorded) ERROR_CHECKED;
void code_release(struct code *code);

/* Whether an offset in the object lies in it. */
bool code_holds(const struct code *code, uint64_t offset);

/* The line that an address belongs to, and the symbol at an address; NULL: it is not known. */
const struct prf_code_line *code_line(const struct code *code, uint64_t address);
const struct prf_code_symbol *code_symbol(const struct code *code, uint64_t address);

#endif
