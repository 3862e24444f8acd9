/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_CODE_RANGES_H
#define RECORD_UNWIND_CODE_RANGES_H

/* Parts of a file's code, as link-time addresses: sorted, without overlap. Starts as { 0 }. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/elf_file.h"

struct code_range {
	uint64_t start, end;
};

struct code_ranges {
	struct code_range *all;
	size_t n, capacity;
};

/*
 * All code of a file: its executable sections, or its executable segments where there are none. A
 * segment may hold much more: some linkers put strings and constants into the same one. False:
 * no memory.
 */
bool code_ranges_of_file(struct code_ranges *r, const struct elf_file *e);
void code_ranges_release(struct code_ranges *r);

/* Appends a range that begins where the last one ends, or later. False: no memory. */
bool code_ranges_add(struct code_ranges *r, uint64_t start, uint64_t end);

/* The first range that ends after the address. */
size_t code_ranges_next(const struct code_ranges *r, uint64_t address);
bool code_ranges_have(const struct code_ranges *r, uint64_t address);

#endif
