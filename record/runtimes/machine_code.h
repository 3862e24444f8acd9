/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RUNTIMES_MACHINE_CODE_H
#define RECORD_RUNTIMES_MACHINE_CODE_H

/*
 * What the code of an interpreter's functions says of it (x86-64). The bytes are hostile, and only
 * ever compared with patterns.
 */

#include <linux/types.h>
#include <stdint.h>

#include "common/elf_file.h"
#include "record/runtimes/elf_names.h"

struct code_range {
	uint64_t start, end; /* link-time addresses; 0: none */
};

/* A little-endian number in the code. */
uint32_t machine_code_u32(const uint8_t *bytes);

/* What a 32-bit displacement at `bytes` leads to, if the instruction ends at address `next`. */
uint64_t machine_code_target(const uint8_t *bytes, uint64_t next);

/*
 * Compilers that know which code is hardly ever run put it elsewhere. Where no symbol (`cold`)
 * says so, it is where conditional jumps lead that leave the function: those are no calls.
 */
struct code_range machine_code_cold(const struct elf_file *e, const struct code_range *function,
				    const struct elf_name *cold);

/* A function as the kernel half compares with it: start and end of both parts. */
void machine_code_put_ranges(__u64 to[4], const struct code_range *function,
			     const struct code_range *cold);

/* The largest function that this one calls, of at least so many bytes. */
struct code_range machine_code_largest_callee(const struct elf_file *e,
					      const struct code_range *function, uint64_t least);

/*
 * From the first to the last of the functions that this one calls with these bytes after the call;
 * what else is between them, too.
 */
struct code_range machine_code_called_before(const struct elf_file *e,
					     const struct code_range *function, const void *bytes,
					     size_t n);

/*
 * The function, of at least `least` bytes, that is jumped to right after these bytes, wherever in
 * the file's code they are; none if several are.
 */
struct code_range machine_code_jumped_to(const struct elf_file *e, const void *bytes, size_t n,
					 uint64_t least);

/* The function that calls this one; none if several do. */
struct code_range machine_code_only_caller(const struct elf_file *e,
					   const struct code_range *function);

#endif
