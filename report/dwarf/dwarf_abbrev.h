/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DWARF_DWARF_ABBREV_H
#define REPORT_DWARF_DWARF_ABBREV_H

/*
 * Abbreviations, compiled. An abbreviation says which attributes follow in a DIE and in which form;
 * most of them are not needed here, so each is compiled into few steps: runs of bytes to skip, and
 * the attributes that have a slot. A DIE of fixed size is skipped with one addition.
 *
 * An abbreviation with an unknown form cannot be skipped; it is kept, and reading such a DIE fails.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cursor.h"

/* The attributes that are kept. */
enum die_slot {
	SLOT_NONE,
	SLOT_SIBLING,
	SLOT_NAME,
	SLOT_LINKAGE_NAME,
	SLOT_LOW_PC,
	SLOT_HIGH_PC,
	SLOT_RANGES,
	SLOT_ORIGIN,
	SLOT_SPECIFICATION,
	SLOT_CALL_FILE,
	SLOT_CALL_LINE,
	SLOT_DECL_LINE,
	SLOT_STMT_LIST,
	SLOT_COMP_DIR,
	SLOT_STR_OFFSETS_BASE,
	SLOT_ADDR_BASE,
	SLOT_RNGLISTS_BASE,
	SLOT_GNU_RANGES_BASE,
	SLOT_DWO_NAME,
	SLOT_DWO_ID,
	SLOT_COUNT
};

#define ABBREV_VARIABLE UINT32_MAX

/* What the sizes of forms depend on. */
struct form_sizes {
	uint8_t address, offset, reference; /* bytes: 4 or 8; `reference` is of DW_FORM_ref_addr */
};

/* Passes over `size` bytes (`form` 0), or over an attribute, which may have a slot. */
struct abbrev_step {
	uint16_t form;
	uint8_t slot;
	uint32_t size;	/* of the bytes; ABBREV_VARIABLE: by the form and the data */
	uint64_t value; /* of DW_FORM_implicit_const */
};

struct abbrev {
	uint64_t code;
	uint32_t fixed; /* bytes of the DIE after its code, or ABBREV_VARIABLE */
	uint32_t first_step, steps;
	uint16_t tag;
	bool children;
	bool code_range; /* it has code of its own: low_pc or ranges */
	bool passable;	 /* its children hold no code, and it says where they end */
};

struct abbrev_table {
	struct abbrev *abbrevs; /* by code */
	size_t n, capacity;
	struct abbrev_step *steps;
	size_t n_steps, steps_capacity;
};

void abbrev_table_release(struct abbrev_table *t);

/*
 * Compiles the table at `c`; or, with `only` not 0, just the abbreviation of that code.
 * Leaves `c` after what was read. Returns 0, or -1 when it is damaged or memory is short.
 */
int abbrev_table_read(struct abbrev_table *t, struct cursor *c, const struct form_sizes *sizes,
		      uint64_t only);

/* NULL: no such code. */
static inline const struct abbrev *abbrev_find(const struct abbrev_table *t, uint64_t code)
{
	size_t low = 0, high = t->n;

	/* Nearly always they count from 1. */
	if (code - 1 < t->n && t->abbrevs[code - 1].code == code)
		return &t->abbrevs[code - 1];
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->abbrevs[middle].code < code)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->n && t->abbrevs[low].code == code ? &t->abbrevs[low] : NULL;
}

/* Bytes of a form, or ABBREV_VARIABLE. False: an unknown form. */
bool form_size(uint64_t form, const struct form_sizes *sizes, uint32_t *size);

/* Passes over an attribute of a variable form. */
void form_skip(struct cursor *c, uint64_t form, const struct form_sizes *sizes);

#endif
