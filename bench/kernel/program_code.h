/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_PROGRAM_CODE_H
#define BENCH_KERNEL_PROGRAM_CODE_H

/*
 * What the kernel has made of a BPF program: the machine code of its functions, and the source
 * lines that it belongs to, as the compiler put them into the object file (clang -g).
 */

#include <stddef.h>
#include <stdint.h>

#include "bench/kernel/program.h"

struct program_function {
	char *name; /* as in the source; "" where the object file does not say */
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
};

/* From an address on, up to the next one's. */
struct program_line {
	uint64_t address;
	uint32_t instruction; /* of the BPF program: some have no code of their own */
	const char *file;
	uint32_t line;
	const char *text; /* of the line; "": not known */
};

struct program_code {
	struct program_function *functions;
	size_t count;
	struct program_line *lines; /* sorted by address, then by instruction */
	size_t line_count;
	uint8_t *bytes;	 /* of all functions */
	struct btf *btf; /* holds the texts of lines */
};

/* ERROR_UNAVAILABLE: the kernel runs the program without machine code, or does not show it. */
struct error *program_code_read(struct program_code *code, const struct program *p) ERROR_CHECKED;
void program_code_release(struct program_code *code);

/* The line that an address in the code belongs to; NULL: none is known. */
const struct program_line *program_code_line(const struct program_code *code, uint64_t address);

#endif
