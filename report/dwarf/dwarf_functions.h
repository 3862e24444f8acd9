/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DWARF_DWARF_FUNCTIONS_H
#define REPORT_DWARF_DWARF_FUNCTIONS_H

/*
 * Which function of a unit an address belongs to, and what was inlined there. The unit's DIEs are
 * scanned once to find the functions; then only the functions that contain one of the addresses are
 * read.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/dwarf/dwarf_unit.h"

/* An inlined call at an address; `outer` is the index of the site around it. */
struct inline_site {
	uint64_t die;
	uint64_t call_file, call_line;
	uint32_t depth;
	uint32_t outer; /* UINT32_MAX: directly in the function */
};

/* The answers for `n` sorted addresses of one unit. */
struct dwarf_functions {
	const uint64_t *addresses;
	size_t n;
	uint64_t *function;  /* offset of its DIE; 0: none */
	uint32_t *innermost; /* the innermost site, or UINT32_MAX */
	struct inline_site *sites;
	size_t site_count, site_capacity;
};

/*
 * Looks f->addresses up, all that is set in *f before, in a prepared unit, which for split DWARF is
 * the split one. 0, or -1 without memory. To be released in both cases.
 */
int dwarf_functions_find(struct dwarf_functions *f, struct dwarf_unit *u, bool inlines);
void dwarf_functions_release(struct dwarf_functions *f);

/*
 * The name of a function or inlined call, which may be given by the DIE it refers to: the
 * linkage name when there is one. `start_line`: where it is declared, or 0.
 */
const char *dwarf_function_name(const struct dwarf_unit *u, uint64_t offset, uint32_t *start_line);

#endif
