/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DWARF_DWARF_UNIT_H
#define REPORT_DWARF_DWARF_UNIT_H

/*
 * The DWARF of one file: its sections, its units, and how DIEs and their attributes are read.
 *
 * A `struct dwarf` is filled by the caller (sections, `alternate`, where code is), then
 * dwarf_index() finds the unit headers. Units are prepared (abbreviations compiled, bases read)
 * when they are first needed, from any thread.
 *
 * All bytes are hostile. Work that could be asked for again and again (a table of abbreviations, a
 * list of ranges) is charged to `budget`; when that is exhausted, further such data is treated as
 * absent.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cursor.h"
#include "common/map.h"
#include "report/dwarf/dwarf_abbrev.h"

enum dwarf_section {
	DEBUG_INFO,
	DEBUG_ABBREV,
	DEBUG_STR,
	DEBUG_STR_OFFSETS,
	DEBUG_LINE,
	DEBUG_LINE_STR,
	DEBUG_RANGES,
	DEBUG_RNGLISTS,
	DEBUG_ADDR,
	DEBUG_CU_INDEX,
	DWARF_SECTIONS
};

/* ".debug_info", ...; ".dwo" is added in .dwo and .dwp files, but for the index. */
extern const char *const dwarf_section_names[DWARF_SECTIONS];

struct dwarf_bytes {
	const uint8_t *data;
	size_t size;
};

/* A part of a section, as a package's index gives them. */
struct dwarf_part {
	uint64_t offset, size;
};

struct dwarf_unit {
	struct dwarf *dwarf;
	uint64_t offset, end; /* in .debug_info, with the header */
	uint64_t dies;	      /* where the first DIE is */
	uint64_t abbrev_offset;
	uint64_t id; /* of a skeleton or split unit of DWARF 5, else from its attribute */
	uint16_t version;
	uint8_t type; /* DW_UT_* */
	struct form_sizes sizes;

	/* From here on valid after dwarf_unit_prepare(). */
	atomic_int state; /* 0: not yet, 1: usable, -1: damaged */
	const struct abbrev_table *abbrevs;
	uint64_t low_pc; /* the base of its range lists */
	uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
	uint64_t stmt_list;			/* UINT64_MAX: no line table */
	const char *comp_dir, *name, *dwo_name; /* "" when there is none */
	struct dwarf_unit *skeleton;		/* of a split unit: where its addresses are */
};

struct dwarf {
	struct dwarf_bytes section[DWARF_SECTIONS];
	struct dwarf *alternate;      /* what dwz moved out, or NULL */
	bool split;		      /* a .dwo or .dwp file */
	uint64_t code_low, code_high; /* all code lies between these */
	struct dwarf_unit *units;     /* by offset */
	size_t unit_count;
	atomic_llong budget;
	pthread_mutex_t lock; /* of `tables`, and of preparing units */
	struct map tables;    /* compiled abbreviations, by what they were compiled from and for */
};

/* An attribute: a number, an offset, or for DW_FORM_string its place in .debug_info. */
struct die_value {
	uint16_t form;
	uint64_t value;
};

struct die {
	const struct abbrev *abbrev;
	uint32_t present; /* bits by slot */
	uint64_t offset;
	struct die_value slot[SLOT_COUNT];
};

static inline bool die_has(const struct die *d, enum die_slot slot)
{
	return d->present & 1u << slot;
}

static inline struct cursor dwarf_cursor(const struct dwarf *d, enum dwarf_section section)
{
	return cursor_over(d->section[section].data, d->section[section].size);
}

/* Starts `d`, all of whose sections are set. 0, or -1 without memory. */
int dwarf_index(struct dwarf *d);
/* Gives back what dwarf_index() and later calls took; the sections are the caller's. */
void dwarf_release(struct dwarf *d);

/* Takes `amount` of the budget; false when there is no more. */
bool dwarf_spend(struct dwarf *d, uint64_t amount);

/* The unit that holds an offset of .debug_info, or NULL. */
struct dwarf_unit *dwarf_unit_at(struct dwarf *d, uint64_t offset);

/* Makes a unit ready to be read. False: it is damaged. */
bool dwarf_unit_prepare(struct dwarf_unit *u);

/*
 * The unit's own DIE, without preparing it: only this one abbreviation is compiled.
 * `bases` gets a copy of the unit, for dwarf_address(), dwarf_ranges() and the like. False:
 * damaged.
 */
bool dwarf_unit_peek(const struct dwarf_unit *u, struct dwarf_unit *bases, struct die *die);

/* Where the unit's DIEs are: a cursor over .debug_info up to the unit's end, at `offset`. */
struct cursor dwarf_unit_cursor(const struct dwarf_unit *u, uint64_t offset);

/*
 * Reads the DIE at the cursor of a prepared unit. 1: `die` is filled; 0: the end of a list
 * of children; -1: damaged.
 */
int die_read(const struct dwarf_unit *u, struct cursor *c, struct die *die);

/* Passes over the attributes of a DIE. */
void die_skip(const struct dwarf_unit *u, struct cursor *c, const struct abbrev *a);

/* The attribute as text, or "" when it is not there or damaged. */
const char *dwarf_text(const struct dwarf_unit *u, const struct die *die, enum die_slot slot);

/* The attribute as a number, or `otherwise`. */
uint64_t dwarf_number(const struct die *die, enum die_slot slot, uint64_t otherwise);

/* The attribute as an address. False: not there, or damaged. */
bool dwarf_address(const struct dwarf_unit *u, const struct die *die, enum die_slot slot,
		   uint64_t *address);

/* Entry `index` of the unit's part of .debug_addr. */
bool dwarf_indexed_address(const struct dwarf_unit *u, uint64_t index, uint64_t *address);

/* Where a DIE is. */
struct die_place {
	struct dwarf_unit *unit; /* prepared */
	uint64_t offset;
};

/* The DIE that an attribute refers to. False: none, damaged, or in a type unit. */
bool dwarf_reference(const struct dwarf_unit *u, const struct die *die, enum die_slot slot,
		     struct die_place *place);

/* A NUL-ended text of a section, no longer than 64 KiB, or "". */
const char *dwarf_section_text(const struct dwarf *d, enum dwarf_section section, uint64_t offset);

#endif
