/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/dwarf/dwarf_unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/shortage.h"
#include "report/dwarf/dwarf_constants.h"

#define TEXT_MAX (64 * 1024)
#define INDIRECT_DEPTH 4
/*
 * The budget of repeated work: this factor times the bytes of all sections, plus a base for small
 * files.
 */
#define BUDGET_FACTOR 16
#define BUDGET_BASE (1 << 20)
/* Bytes of a compiled table for each byte of .debug_abbrev, at most. */
#define COMPILED_FACTOR 8
/*
 * A unit has a header of at least 11 bytes and a DIE. Where there are more than a few, and they are
 * smaller than this on average, the file was made to exhaust memory: the remaining units are not
 * read.
 */
#define UNIT_BYTES_MIN 32
#define UNITS_FREE 4096

enum { UNIT_NEW = 0, UNIT_READY = 1, UNIT_DAMAGED = -1 };

const char *const dwarf_section_names[DWARF_SECTIONS] = {
	[DEBUG_INFO] = ".debug_info",	  [DEBUG_ABBREV] = ".debug_abbrev",
	[DEBUG_STR] = ".debug_str",	  [DEBUG_STR_OFFSETS] = ".debug_str_offsets",
	[DEBUG_LINE] = ".debug_line",	  [DEBUG_LINE_STR] = ".debug_line_str",
	[DEBUG_RANGES] = ".debug_ranges", [DEBUG_RNGLISTS] = ".debug_rnglists",
	[DEBUG_ADDR] = ".debug_addr",	  [DEBUG_CU_INDEX] = ".debug_cu_index",
};

bool dwarf_spend(struct dwarf *d, uint64_t amount)
{
	if (amount > INT64_MAX / 2)
		return false;
	return atomic_fetch_sub_explicit(&d->budget, (long long)amount, memory_order_relaxed) >
	       (long long)amount;
}

/* -------- unit headers -------- */

/* Reads the unit header at the cursor (DWARF 5, 7.5.1) and moves after the unit. False: no more. */
static bool read_header(struct dwarf *d, struct cursor *c, struct dwarf_unit *u)
{
	uint64_t length;

	*u = (struct dwarf_unit){ .dwarf = d, .offset = cursor_offset(c) };
	length = cursor_u32(c);
	u->sizes.offset = 4;
	if (length == UINT32_MAX) {
		length = cursor_u64(c);
		u->sizes.offset = 8;
	}
	if (!cursor_ok(c) || length > cursor_left(c))
		return false;
	u->end = cursor_offset(c) + length;
	u->version = cursor_u16(c);
	u->type = DW_UT_COMPILE;
	if (u->version >= 5) {
		u->type = cursor_u8(c);
		u->sizes.address = cursor_u8(c);
	}
	u->abbrev_offset = u->sizes.offset == 8 ? cursor_u64(c) : cursor_u32(c);
	if (u->version < 5)
		u->sizes.address = cursor_u8(c);
	if (u->type == DW_UT_SKELETON || u->type == DW_UT_SPLIT_COMPILE)
		u->id = cursor_u64(c);
	if (u->type == DW_UT_TYPE || u->type == DW_UT_SPLIT_TYPE)
		cursor_skip(c, 8 + u->sizes.offset);
	u->sizes.reference = u->version <= 2 ? u->sizes.address : u->sizes.offset;
	u->dies = cursor_offset(c);
	if (!cursor_ok(c) || u->dies > u->end || u->version < 2 || u->version > 5 ||
	    (u->sizes.address != 4 && u->sizes.address != 8))
		u->state = UNIT_DAMAGED;
	cursor_seek(c, u->end);
	return cursor_ok(c);
}

int dwarf_index(struct dwarf *d)
{
	struct cursor c = dwarf_cursor(d, DEBUG_INFO);
	size_t capacity = 0;
	long long size = 0;

	for (int i = 0; i < DWARF_SECTIONS; i++)
		size += (long long)d->section[i].size;
	d->budget = BUDGET_FACTOR * size + BUDGET_BASE;
	pthread_mutex_init(&d->lock, NULL);
	while (cursor_left(&c)) {
		struct dwarf_unit unit;

		if (!read_header(d, &c, &unit))
			break;
		if (d->unit_count > UNITS_FREE && d->unit_count > unit.end / UNIT_BYTES_MIN)
			break;
		if (!array_reserve(&d->units, &capacity, d->unit_count + 1)) {
			shortage_note(ENOMEM);
			return -1;
		}
		d->units[d->unit_count++] = unit;
	}
	return 0;
}

static void free_table(void *table)
{
	abbrev_table_release(table);
	free(table);
}

void dwarf_release(struct dwarf *d)
{
	map_release_values(&d->tables, free_table);
	free(d->units);
	d->units = NULL;
	d->unit_count = 0;
}

struct dwarf_unit *dwarf_unit_at(struct dwarf *d, uint64_t offset)
{
	size_t low = 0, high = d->unit_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (d->units[middle].end <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < d->unit_count && d->units[low].offset <= offset ? &d->units[low] : NULL;
}

/* -------- preparing -------- */

static struct cursor abbrev_cursor(const struct dwarf_unit *u)
{
	struct cursor c = dwarf_cursor(u->dwarf, DEBUG_ABBREV);

	cursor_seek(&c, u->abbrev_offset);
	return c;
}

static struct abbrev_table *compile(const struct dwarf_unit *u)
{
	struct abbrev_table *table;
	struct cursor c = abbrev_cursor(u);
	const uint8_t *start = c.at;

	if (!dwarf_spend(u->dwarf, 0))
		return NULL;
	table = shortage_check(calloc(1, sizeof(*table)));
	if (!table)
		return NULL;
	if (!abbrev_table_read(table, &c, &u->sizes, 0) &&
	    dwarf_spend(u->dwarf, COMPILED_FACTOR * (uint64_t)(c.at - start)))
		return table;
	abbrev_table_release(table);
	free(table);
	return NULL;
}

/*
 * The compiled table of the unit. Units may share one, but it depends on their sizes of addresses
 * and offsets, too. Under the lock.
 */
static const struct abbrev_table *abbrevs_of(const struct dwarf_unit *u)
{
	uint64_t key[2] = { u->abbrev_offset, 0 };
	uint64_t *table;
	bool added;

	memcpy(&key[1], &u->sizes, sizeof(u->sizes));
	table = shortage_check(map_put(&u->dwarf->tables, key, sizeof(key), &added));
	if (table && added)
		*table = (uintptr_t)compile(u);
	return table ? (const struct abbrev_table *)(uintptr_t)*table : NULL;
}

/* Takes from the unit's own DIE the bases that indices in other DIEs count from. */
static bool take_bases(struct dwarf_unit *u, const struct die *die)
{
	uint64_t header = u->sizes.offset == 8 ? 16 : 8;

	if (die->abbrev->tag != DW_TAG_COMPILE_UNIT && die->abbrev->tag != DW_TAG_PARTIAL_UNIT &&
	    die->abbrev->tag != DW_TAG_SKELETON_UNIT)
		return false;
	/* A split unit gives no bases: its tables begin after a header (DWARF 5, 7.26 and 7.28). */
	if (!u->dwarf->split || u->version < 5)
		header = 0;
	u->str_offsets_base = dwarf_number(die, SLOT_STR_OFFSETS_BASE,
					   u->str_offsets_base + header);
	u->rnglists_base = dwarf_number(die, SLOT_RNGLISTS_BASE,
					u->rnglists_base + (header ? header + 4 : 0));
	u->addr_base = dwarf_number(die, SLOT_ADDR_BASE, 0);
	u->ranges_base = dwarf_number(die, SLOT_GNU_RANGES_BASE, 0);
	u->stmt_list = dwarf_number(die, SLOT_STMT_LIST, UINT64_MAX);
	u->id = dwarf_number(die, SLOT_DWO_ID, u->id);
	if (u->skeleton) {
		u->addr_base = u->skeleton->addr_base;
		u->ranges_base = u->skeleton->ranges_base;
		u->stmt_list = u->skeleton->stmt_list;
		u->low_pc = u->skeleton->low_pc;
	}
	dwarf_address(u, die, SLOT_LOW_PC, &u->low_pc);
	u->comp_dir = dwarf_text(u, die, SLOT_COMP_DIR);
	u->name = dwarf_text(u, die, SLOT_NAME);
	u->dwo_name = dwarf_text(u, die, SLOT_DWO_NAME);
	return true;
}

static bool prepare(struct dwarf_unit *u)
{
	struct cursor c = dwarf_unit_cursor(u, u->dies);
	struct die die;

	u->abbrevs = abbrevs_of(u);
	return u->abbrevs && die_read(u, &c, &die) == 1 && take_bases(u, &die);
}

bool dwarf_unit_prepare(struct dwarf_unit *u)
{
	int state = atomic_load_explicit(&u->state, memory_order_acquire);

	if (state == UNIT_NEW) {
		pthread_mutex_lock(&u->dwarf->lock);
		state = u->state;
		if (state == UNIT_NEW) {
			state = prepare(u) ? UNIT_READY : UNIT_DAMAGED;
			atomic_store_explicit(&u->state, state, memory_order_release);
		}
		pthread_mutex_unlock(&u->dwarf->lock);
	}
	return state == UNIT_READY;
}

bool dwarf_unit_peek(const struct dwarf_unit *u, struct dwarf_unit *bases, struct die *die)
{
	struct abbrev_table table = { 0 };
	struct cursor c = dwarf_unit_cursor(u, u->dies), abbrevs = abbrev_cursor(u), ahead = c;
	const uint8_t *start = abbrevs.at;
	uint64_t code = cursor_uleb(&ahead);
	bool usable = false;

	if (u->state == UNIT_DAMAGED || !code || !cursor_ok(&abbrevs) || !dwarf_spend(u->dwarf, 0))
		return false;
	memcpy(bases, u, sizeof(*bases));
	bases->abbrevs = &table;
	if (!abbrev_table_read(&table, &abbrevs, &u->sizes, code))
		usable = die_read(bases, &c, die) == 1 && take_bases(bases, die);
	dwarf_spend(u->dwarf, (uint64_t)(abbrevs.at - start));
	abbrev_table_release(&table);
	bases->abbrevs = NULL;
	die->abbrev = NULL;
	return usable;
}

/* -------- DIEs -------- */

struct cursor dwarf_unit_cursor(const struct dwarf_unit *u, uint64_t offset)
{
	struct cursor c = cursor_over(u->dwarf->section[DEBUG_INFO].data, u->end);

	cursor_seek(&c, offset);
	return c;
}

/* Reads `size` bytes (1, 2, 3, 4 or 8) as a number. */
static uint64_t read_sized(struct cursor *c, uint32_t size)
{
	switch (size) {
	case 1: return cursor_u8(c);
	case 2: return cursor_u16(c);
	case 3: {
		uint64_t low = cursor_u16(c);

		return low | (uint64_t)cursor_u8(c) << 16;
	}
	case 4: return cursor_u32(c);
	case 8: return cursor_u64(c);
	default: cursor_skip(c, size); return 0;
	}
}

static void read_value(struct cursor *c, const struct abbrev_step *step,
		       const struct form_sizes *sizes, struct die_value *value)
{
	uint64_t form = step->form;
	uint32_t size = step->size;

	for (int depth = 0; form == DW_FORM_INDIRECT; depth++) {
		form = cursor_uleb(c);
		if (depth == INDIRECT_DEPTH || !form_size(form, sizes, &size))
			cursor_fail(c);
	}
	value->form = (uint16_t)form;
	value->value = 0;
	switch (form) {
	case DW_FORM_IMPLICIT_CONST: value->value = step->value; break;
	case DW_FORM_FLAG_PRESENT: value->value = 1; break;
	case DW_FORM_SDATA: value->value = (uint64_t)cursor_sleb(c); break;
	case DW_FORM_UDATA:
	case DW_FORM_REF_UDATA:
	case DW_FORM_STRX:
	case DW_FORM_ADDRX:
	case DW_FORM_RNGLISTX:
	case DW_FORM_LOCLISTX:
	case DW_FORM_GNU_ADDR_INDEX:
	case DW_FORM_GNU_STR_INDEX: value->value = cursor_uleb(c); break;
	case DW_FORM_STRING:
		value->value = cursor_offset(c);
		cursor_string(c);
		break;
	default:
		if (size == ABBREV_VARIABLE)
			form_skip(c, form, sizes);
		else
			value->value = read_sized(c, size);
	}
}

/* NULL when no abbreviation of the table has steps: then there is no array to point into. */
static const struct abbrev_step *steps_of(const struct dwarf_unit *u, const struct abbrev *a)
{
	return a->steps ? u->abbrevs->steps + a->first_step : NULL;
}

int die_read(const struct dwarf_unit *u, struct cursor *c, struct die *die)
{
	const struct abbrev_step *step;
	uint64_t code;

	die->offset = cursor_offset(c);
	die->present = 0;
	code = cursor_uleb(c);
	if (!code)
		return cursor_ok(c) ? 0 : -1;
	die->abbrev = abbrev_find(u->abbrevs, code);
	if (!die->abbrev)
		return -1;
	step = steps_of(u, die->abbrev);
	for (uint32_t i = 0; i < die->abbrev->steps; i++, step++) {
		if (!step->form) {
			cursor_skip(c, step->size);
		} else if (step->slot) {
			read_value(c, step, &u->sizes, &die->slot[step->slot]);
			die->present |= 1u << step->slot;
		} else {
			form_skip(c, step->form, &u->sizes);
		}
	}
	return cursor_ok(c) ? 1 : -1;
}

void die_skip(const struct dwarf_unit *u, struct cursor *c, const struct abbrev *a)
{
	const struct abbrev_step *step = steps_of(u, a);

	if (a->fixed != ABBREV_VARIABLE) {
		cursor_skip(c, a->fixed);
		return;
	}
	for (uint32_t i = 0; i < a->steps; i++, step++) {
		if (step->size != ABBREV_VARIABLE)
			cursor_skip(c, step->size);
		else
			form_skip(c, step->form, &u->sizes);
	}
}

/* -------- attributes -------- */

const char *dwarf_section_text(const struct dwarf *d, enum dwarf_section section, uint64_t offset)
{
	size_t size = d->section[section].size;
	const char *text;

	if (offset >= size)
		return "";
	text = (const char *)d->section[section].data + offset;
	size -= offset;
	if (size > TEXT_MAX)
		size = TEXT_MAX;
	return memchr(text, 0, size) ? text : "";
}

/* An entry of a table of numbers: the `index`th of `size` bytes from `base` on. */
struct table_place {
	enum dwarf_section section;
	uint64_t base, index;
	uint8_t size;
};

/* Entry `index` of a table of offsets or addresses. The limits keep the sum from wrapping. */
static bool table_entry(const struct dwarf *d, const struct table_place *place, uint64_t *value)
{
	struct cursor c = dwarf_cursor(d, place->section);

	if (place->base > UINT32_MAX * UINT64_C(256) || place->index > UINT32_MAX)
		return false;
	cursor_seek(&c, place->base + place->index * place->size);
	*value = place->size == 8 ? cursor_u64(&c) : cursor_u32(&c);
	return cursor_ok(&c);
}

const char *dwarf_text(const struct dwarf_unit *u, const struct die *die, enum die_slot slot)
{
	const struct die_value *v = &die->slot[slot];
	uint64_t offset;

	if (!die_has(die, slot))
		return "";
	switch (v->form) {
	case DW_FORM_STRING: return dwarf_section_text(u->dwarf, DEBUG_INFO, v->value);
	case DW_FORM_STRP: return dwarf_section_text(u->dwarf, DEBUG_STR, v->value);
	case DW_FORM_LINE_STRP: return dwarf_section_text(u->dwarf, DEBUG_LINE_STR, v->value);
	case DW_FORM_STRP_SUP:
	case DW_FORM_GNU_STRP_ALT:
		return u->dwarf->alternate
			       ? dwarf_section_text(u->dwarf->alternate, DEBUG_STR, v->value)
			       : "";
	case DW_FORM_STRX:
	case DW_FORM_STRX1:
	case DW_FORM_STRX2:
	case DW_FORM_STRX3:
	case DW_FORM_STRX4:
	case DW_FORM_GNU_STR_INDEX:
		if (!table_entry(u->dwarf,
				 &(struct table_place){ DEBUG_STR_OFFSETS, u->str_offsets_base,
							v->value, u->sizes.offset },
				 &offset))
			return "";
		return dwarf_section_text(u->dwarf, DEBUG_STR, offset);
	default: return "";
	}
}

uint64_t dwarf_number(const struct die *die, enum die_slot slot, uint64_t otherwise)
{
	return die_has(die, slot) ? die->slot[slot].value : otherwise;
}

bool dwarf_indexed_address(const struct dwarf_unit *u, uint64_t index, uint64_t *address)
{
	const struct dwarf *d = u->skeleton ? u->skeleton->dwarf : u->dwarf;

	return table_entry(
		d, &(struct table_place){ DEBUG_ADDR, u->addr_base, index, u->sizes.address },
		address);
}

bool dwarf_address(const struct dwarf_unit *u, const struct die *die, enum die_slot slot,
		   uint64_t *address)
{
	const struct die_value *v = &die->slot[slot];

	if (!die_has(die, slot))
		return false;
	switch (v->form) {
	case DW_FORM_ADDR: *address = v->value; return true;
	case DW_FORM_ADDRX:
	case DW_FORM_ADDRX1:
	case DW_FORM_ADDRX2:
	case DW_FORM_ADDRX3:
	case DW_FORM_ADDRX4:
	case DW_FORM_GNU_ADDR_INDEX: return dwarf_indexed_address(u, v->value, address);
	default: return false;
	}
}

bool dwarf_reference(const struct dwarf_unit *u, const struct die *die, enum die_slot slot,
		     struct die_place *place)
{
	const struct die_value *v = &die->slot[slot];
	struct dwarf *d = u->dwarf;

	if (!die_has(die, slot))
		return false;
	place->offset = v->value;
	switch (v->form) {
	case DW_FORM_REF1:
	case DW_FORM_REF2:
	case DW_FORM_REF4:
	case DW_FORM_REF8:
	case DW_FORM_REF_UDATA:
		if (v->value >= u->end - u->offset)
			return false;
		place->offset = u->offset + v->value;
		/* The caller reads its DIEs, so it is prepared and no longer written to. */
		place->unit = (struct dwarf_unit *)u;
		return true;
	case DW_FORM_REF_SUP4:
	case DW_FORM_REF_SUP8:
	case DW_FORM_GNU_REF_ALT: d = d->alternate; break;
	case DW_FORM_REF_ADDR: break;
	default: return false;
	}
	place->unit = d ? dwarf_unit_at(d, place->offset) : NULL;
	return place->unit && place->offset >= place->unit->dies && dwarf_unit_prepare(place->unit);
}
