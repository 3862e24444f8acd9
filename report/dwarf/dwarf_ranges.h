/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DWARF_DWARF_RANGES_H
#define REPORT_DWARF_DWARF_RANGES_H

/*
 * Which addresses a DIE covers: DW_AT_low_pc with DW_AT_high_pc, or DW_AT_ranges with a list
 * in .debug_ranges (DWARF 2 to 4) or .debug_rnglists (DWARF 5).
 *
 * Code that the linker dropped leaves ranges at 0, 1 or the top of the address space: what
 * begins where the file has no code is left out.
 */

#include <stdbool.h>
#include <stdint.h>

#include "report/dwarf/dwarf_unit.h"

/* Called for each range that is not empty; `low` is in it, `high` is not. */
typedef void dwarf_range_visit(uint64_t low, uint64_t high, void *context);

/*
 * Visits the ranges of a DIE of `u`, which is prepared or was filled by dwarf_unit_peek().
 * False: the DIE has neither low_pc nor ranges, or they are damaged.
 */
bool dwarf_ranges(const struct dwarf_unit *u, const struct die *die, dwarf_range_visit *visit,
		  void *context);

#endif
