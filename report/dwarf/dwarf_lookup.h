/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DWARF_DWARF_LOOKUP_H
#define REPORT_DWARF_DWARF_LOOKUP_H

/*
 * From addresses to functions, inlined calls and lines, by the DWARF of one file. First
 * dwarf_find_units() says which unit each address belongs to; then dwarf_lookup_unit()
 * answers for all addresses of one unit at once, and may do so for several units in parallel.
 *
 * libdw looks up one address at a time, from the unit's first DIE on: 2,000 places take it 19 times
 * as long, and a whole report 14 times (bench/README.md).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "report/dwarf/dwarf_unit.h"

#define DWARF_NO_UNIT UINT32_MAX

/* Text lies in the DWARF sections or in the arena. */
struct dwarf_place {
	const char *function; /* linkage name, else name; "" when not known */
	const char *file;     /* "" when not known */
	uint32_t line, start_line;
};

/* The places of an address, innermost first; the last is the function, maybe without a name. */
struct dwarf_answer {
	struct dwarf_place *places;
	size_t n; /* 0: neither function nor line */
	bool function_known;
};

/* What is looked up in a unit. */
struct dwarf_lookup {
	const uint64_t *addresses; /* sorted */
	size_t n;
	bool inlines, lines;
	struct arena *arena; /* for the answers */
	/* The split unit of a prepared skeleton, prepared too, or NULL. May be NULL. */
	struct dwarf_unit *(*split)(const struct dwarf_unit *skeleton, void *context);
	void *context;
};

/* Sets `units[i]` to the number of the unit that holds sorted address i, or DWARF_NO_UNIT. */
void dwarf_find_units(struct dwarf *d, const uint64_t *addresses, size_t n, uint32_t *units);

/*
 * Fills answers[0..n), one for each address. 0, or -1 without memory. Damage is not an error: what
 * cannot be read is not answered.
 */
int dwarf_lookup_unit(const struct dwarf_lookup *l, struct dwarf_unit *u,
		      struct dwarf_answer *answers);

#endif
