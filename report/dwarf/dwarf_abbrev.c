/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/dwarf/dwarf_abbrev.h"

#include <errno.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/shortage.h"
#include "report/dwarf/dwarf_constants.h"

#define INDIRECT_DEPTH 4

void abbrev_table_release(struct abbrev_table *t)
{
	free(t->abbrevs);
	free(t->steps);
	*t = (struct abbrev_table){ 0 };
}

static uint8_t slot_of(uint64_t attribute)
{
	switch (attribute) {
	case DW_AT_SIBLING: return SLOT_SIBLING;
	case DW_AT_NAME: return SLOT_NAME;
	case DW_AT_LINKAGE_NAME:
	case DW_AT_MIPS_LINKAGE_NAME: return SLOT_LINKAGE_NAME;
	case DW_AT_LOW_PC: return SLOT_LOW_PC;
	case DW_AT_HIGH_PC: return SLOT_HIGH_PC;
	case DW_AT_RANGES: return SLOT_RANGES;
	case DW_AT_ABSTRACT_ORIGIN: return SLOT_ORIGIN;
	case DW_AT_SPECIFICATION: return SLOT_SPECIFICATION;
	case DW_AT_CALL_FILE: return SLOT_CALL_FILE;
	case DW_AT_CALL_LINE: return SLOT_CALL_LINE;
	case DW_AT_DECL_LINE: return SLOT_DECL_LINE;
	case DW_AT_STMT_LIST: return SLOT_STMT_LIST;
	case DW_AT_COMP_DIR: return SLOT_COMP_DIR;
	case DW_AT_STR_OFFSETS_BASE: return SLOT_STR_OFFSETS_BASE;
	case DW_AT_ADDR_BASE:
	case DW_AT_GNU_ADDR_BASE: return SLOT_ADDR_BASE;
	case DW_AT_RNGLISTS_BASE: return SLOT_RNGLISTS_BASE;
	case DW_AT_GNU_RANGES_BASE: return SLOT_GNU_RANGES_BASE;
	case DW_AT_DWO_NAME:
	case DW_AT_GNU_DWO_NAME: return SLOT_DWO_NAME;
	case DW_AT_GNU_DWO_ID: return SLOT_DWO_ID;
	default: return SLOT_NONE;
	}
}

/* DIEs whose attributes are read; of all others only DW_AT_sibling is. */
static bool tag_is_read(uint64_t tag)
{
	return tag == DW_TAG_SUBPROGRAM || tag == DW_TAG_INLINED_SUBROUTINE ||
	       tag == DW_TAG_COMPILE_UNIT || tag == DW_TAG_PARTIAL_UNIT ||
	       tag == DW_TAG_SKELETON_UNIT;
}

/* DIEs below which there is no code: functions are defined outside of their classes. */
static bool tag_is_type(uint64_t tag)
{
	return tag == DW_TAG_STRUCTURE_TYPE || tag == DW_TAG_CLASS_TYPE ||
	       tag == DW_TAG_UNION_TYPE || tag == DW_TAG_ENUMERATION_TYPE ||
	       tag == DW_TAG_ARRAY_TYPE || tag == DW_TAG_SUBROUTINE_TYPE;
}

bool form_size(uint64_t form, const struct form_sizes *sizes, uint32_t *size)
{
	switch (form) {
	case DW_FORM_FLAG_PRESENT:
	case DW_FORM_IMPLICIT_CONST: *size = 0; return true;
	case DW_FORM_DATA1:
	case DW_FORM_FLAG:
	case DW_FORM_REF1:
	case DW_FORM_STRX1:
	case DW_FORM_ADDRX1: *size = 1; return true;
	case DW_FORM_DATA2:
	case DW_FORM_REF2:
	case DW_FORM_STRX2:
	case DW_FORM_ADDRX2: *size = 2; return true;
	case DW_FORM_STRX3:
	case DW_FORM_ADDRX3: *size = 3; return true;
	case DW_FORM_DATA4:
	case DW_FORM_REF4:
	case DW_FORM_REF_SUP4:
	case DW_FORM_STRX4:
	case DW_FORM_ADDRX4: *size = 4; return true;
	case DW_FORM_DATA8:
	case DW_FORM_REF8:
	case DW_FORM_REF_SIG8:
	case DW_FORM_REF_SUP8: *size = 8; return true;
	case DW_FORM_DATA16: *size = 16; return true;
	case DW_FORM_ADDR: *size = sizes->address; return true;
	case DW_FORM_REF_ADDR: *size = sizes->reference; return true;
	case DW_FORM_STRP:
	case DW_FORM_LINE_STRP:
	case DW_FORM_SEC_OFFSET:
	case DW_FORM_STRP_SUP:
	case DW_FORM_GNU_REF_ALT:
	case DW_FORM_GNU_STRP_ALT: *size = sizes->offset; return true;
	case DW_FORM_BLOCK:
	case DW_FORM_BLOCK1:
	case DW_FORM_BLOCK2:
	case DW_FORM_BLOCK4:
	case DW_FORM_EXPRLOC:
	case DW_FORM_STRING:
	case DW_FORM_SDATA:
	case DW_FORM_UDATA:
	case DW_FORM_REF_UDATA:
	case DW_FORM_STRX:
	case DW_FORM_ADDRX:
	case DW_FORM_LOCLISTX:
	case DW_FORM_RNGLISTX:
	case DW_FORM_GNU_ADDR_INDEX:
	case DW_FORM_GNU_STR_INDEX:
	case DW_FORM_INDIRECT: *size = ABBREV_VARIABLE; return true;
	default: *size = ABBREV_VARIABLE; return false;
	}
}

/* LEB128, signed or not: its value is not needed, so it may have any length. */
static void skip_leb(struct cursor *c)
{
	while (cursor_u8(c) & 0x80)
		;
}

void form_skip(struct cursor *c, uint64_t form, const struct form_sizes *sizes)
{
	uint32_t size;

	for (int depth = 0; form == DW_FORM_INDIRECT; depth++) {
		form = cursor_uleb(c);
		if (depth == INDIRECT_DEPTH || form == DW_FORM_IMPLICIT_CONST) {
			cursor_fail(c);
			return;
		}
	}
	if (!form_size(form, sizes, &size)) {
		cursor_fail(c);
		return;
	}
	if (size != ABBREV_VARIABLE) {
		cursor_skip(c, size);
		return;
	}
	switch (form) {
	case DW_FORM_BLOCK:
	case DW_FORM_EXPRLOC: cursor_skip(c, cursor_uleb(c)); break;
	case DW_FORM_BLOCK1: cursor_skip(c, cursor_u8(c)); break;
	case DW_FORM_BLOCK2: cursor_skip(c, cursor_u16(c)); break;
	case DW_FORM_BLOCK4: cursor_skip(c, cursor_u32(c)); break;
	case DW_FORM_STRING: cursor_string(c); break;
	default: skip_leb(c);
	}
}

static struct abbrev_step *add_step(struct abbrev_table *t, struct abbrev *a)
{
	if (!array_reserve(&t->steps, &t->steps_capacity, t->n_steps + 1))
		return shortage_check(NULL);
	a->steps++;
	t->steps[t->n_steps] = (struct abbrev_step){ 0 };
	return &t->steps[t->n_steps++];
}

struct attribute {
	uint8_t slot;
	uint64_t form, constant;
};

/*
 * Adds one attribute. One of fixed size that has no slot only lengthens the preceding run of bytes
 * to skip.
 */
static int add_attribute(struct abbrev_table *t, struct abbrev *a, const struct attribute *added,
			 const struct form_sizes *sizes)
{
	struct abbrev_step *step;
	uint32_t size;
	bool known = form_size(added->form, sizes, &size);

	if (size == ABBREV_VARIABLE || a->fixed > UINT16_MAX)
		a->fixed = ABBREV_VARIABLE;
	else
		a->fixed += size;
	if (added->slot == SLOT_NONE && known && size != ABBREV_VARIABLE) {
		if (!size)
			return 0;
		step = a->steps ? &t->steps[t->n_steps - 1] : NULL;
		if (step && !step->form && step->size <= UINT16_MAX) {
			step->size += size;
			return 0;
		}
		step = add_step(t, a);
		if (!step)
			return -1;
		step->size = size;
		return 0;
	}
	step = add_step(t, a);
	if (!step)
		return -1;
	/* An unknown form is kept as it is; form_skip() fails on it. */
	*step = (struct abbrev_step){ .form = known ? (uint16_t)added->form : UINT16_MAX,
				      .slot = added->slot,
				      .size = size,
				      .value = added->constant };
	return 0;
}

static int read_attributes(struct abbrev_table *t, struct abbrev *a, struct cursor *c,
			   const struct form_sizes *sizes)
{
	uint32_t seen = 0;

	for (;;) {
		uint64_t attribute = cursor_uleb(c), form = cursor_uleb(c);
		uint64_t constant = form == DW_FORM_IMPLICIT_CONST ? (uint64_t)cursor_sleb(c) : 0;
		uint8_t slot = slot_of(attribute);

		if (!cursor_ok(c))
			return -1;
		if (!attribute && !form)
			return 0;
		if (slot != SLOT_SIBLING && !tag_is_read(a->tag))
			slot = SLOT_NONE;
		/* Of an attribute that occurs twice, which DWARF forbids, the first counts. */
		if (seen & 1u << slot)
			slot = SLOT_NONE;
		seen |= 1u << slot;
		a->code_range |= slot == SLOT_LOW_PC || slot == SLOT_RANGES;
		a->passable |= slot == SLOT_SIBLING && a->children && tag_is_type(a->tag);
		if (add_attribute(t, a, &(struct attribute){ slot, form, constant }, sizes))
			return -1;
	}
}

static int add_abbrev(struct abbrev_table *t, const struct abbrev *a)
{
	if (!array_reserve(&t->abbrevs, &t->capacity, t->n + 1)) {
		shortage_note(ENOMEM);
		return -1;
	}
	t->abbrevs[t->n++] = *a;
	return 0;
}

static int by_code(const void *left, const void *right)
{
	const struct abbrev *a = left, *b = right;

	return (a->code > b->code) - (a->code < b->code);
}

int abbrev_table_read(struct abbrev_table *t, struct cursor *c, const struct form_sizes *sizes,
		      uint64_t only)
{
	bool sorted = true;
	uint64_t code;

	while ((code = cursor_uleb(c))) {
		struct abbrev a = { .code = code, .first_step = (uint32_t)t->n_steps };
		uint64_t tag = cursor_uleb(c);

		a.tag = tag <= UINT16_MAX ? (uint16_t)tag : 0;
		a.children = cursor_u8(c) != 0;
		if (t->n_steps > UINT32_MAX / 2 || read_attributes(t, &a, c, sizes))
			return -1;
		/* dwarf_unit_peek() needs a single one and scans the table for it. */
		if (only && code != only) {
			t->n_steps = a.first_step;
			continue;
		}
		sorted &= !t->n || t->abbrevs[t->n - 1].code < code;
		if (add_abbrev(t, &a))
			return -1;
		if (only)
			return 0;
	}
	if (!sorted)
		qsort(t->abbrevs, t->n, sizeof(*t->abbrevs), by_code);
	return cursor_ok(c) ? 0 : -1;
}
