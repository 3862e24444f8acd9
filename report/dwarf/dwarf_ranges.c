/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/dwarf/dwarf_ranges.h"

#include "report/dwarf/dwarf_constants.h"

struct visitor {
	const struct dwarf_unit *unit;
	dwarf_range_visit *visit;
	void *context;
};

/* Ranges outside of all code belong to functions that the linker dropped. */
static void hand_out(const struct visitor *v, uint64_t low, uint64_t high)
{
	const struct dwarf_unit *u = v->unit->skeleton ? v->unit->skeleton : v->unit;

	if (low < high && low >= u->dwarf->code_low && low < u->dwarf->code_high &&
	    dwarf_spend(v->unit->dwarf, 0))
		v->visit(low, high, v->context);
}

static uint64_t read_address(struct cursor *c, uint8_t size)
{
	return size == 8 ? cursor_u64(c) : cursor_u32(c);
}

/* .debug_ranges: pairs of offsets from a base, which an entry of its own sets. DWARF 4, 2.17.3. */
static bool old_list(const struct visitor *v, struct cursor *c)
{
	uint8_t size = v->unit->sizes.address;
	uint64_t base = v->unit->low_pc, escape = size == 8 ? UINT64_MAX : UINT32_MAX;

	for (;;) {
		uint64_t low = read_address(c, size), high = read_address(c, size);

		if (!cursor_ok(c))
			return false;
		if (!low && !high)
			return true;
		if (low == escape)
			base = high;
		else if (low < high)
			hand_out(v, base + low, base + high);
	}
}

static uint64_t read_index(const struct visitor *v, struct cursor *c)
{
	uint64_t address = UINT64_MAX;

	dwarf_indexed_address(v->unit, cursor_uleb(c), &address);
	return address;
}

/* .debug_rnglists: entries of several kinds. DWARF 5, 7.25. */
static bool new_list(const struct visitor *v, struct cursor *c)
{
	uint8_t size = v->unit->sizes.address;
	uint64_t base = v->unit->low_pc, low, high;

	for (;;) {
		uint8_t kind = cursor_u8(c);

		if (!cursor_ok(c))
			return false;
		switch (kind) {
		case DW_RLE_END_OF_LIST: return true;
		case DW_RLE_BASE_ADDRESSX: base = read_index(v, c); continue;
		case DW_RLE_BASE_ADDRESS: base = read_address(c, size); continue;
		case DW_RLE_STARTX_ENDX:
		case DW_RLE_STARTX_LENGTH: low = read_index(v, c); break;
		case DW_RLE_OFFSET_PAIR: low = base + cursor_uleb(c); break;
		case DW_RLE_START_END:
		case DW_RLE_START_LENGTH: low = read_address(c, size); break;
		default: return false;
		}
		switch (kind) {
		case DW_RLE_STARTX_ENDX: high = read_index(v, c); break;
		case DW_RLE_OFFSET_PAIR: high = base + cursor_uleb(c); break;
		case DW_RLE_START_END: high = read_address(c, size); break;
		default: high = low + cursor_uleb(c);
		}
		/* lld's marks of code that it dropped */
		if (kind == DW_RLE_OFFSET_PAIR && base >= UINT64_MAX - 1)
			continue;
		if (!cursor_ok(c))
			return false;
		hand_out(v, low, high);
	}
}

static bool list(const struct visitor *v, const struct die_value *value)
{
	const struct dwarf_unit *u = v->unit;
	bool old = u->version < 5;
	/* Split files of DWARF 4 have their ranges in the main file. */
	const struct dwarf *d = old && u->skeleton ? u->skeleton->dwarf : u->dwarf;
	struct cursor c = dwarf_cursor(d, old ? DEBUG_RANGES : DEBUG_RNGLISTS);
	uint64_t offset = value->value;
	const uint8_t *start;
	bool usable;

	if (value->form == DW_FORM_RNGLISTX) {
		if (offset > UINT32_MAX)
			return false;
		cursor_seek(&c, u->rnglists_base + offset * u->sizes.offset);
		offset = u->rnglists_base +
			 (u->sizes.offset == 8 ? cursor_u64(&c) : cursor_u32(&c));
	} else if (old && u->skeleton) {
		offset += u->ranges_base;
	}
	cursor_seek(&c, offset);
	start = c.at;
	if (!dwarf_spend(u->dwarf, 0))
		return false;
	usable = old ? old_list(v, &c) : new_list(v, &c);
	dwarf_spend(u->dwarf, (uint64_t)(c.at - start));
	return usable;
}

bool dwarf_ranges(const struct dwarf_unit *u, const struct die *die, dwarf_range_visit *visit,
		  void *context)
{
	const struct visitor v = { u, visit, context };
	uint64_t low, high;

	if (die_has(die, SLOT_RANGES))
		return list(&v, &die->slot[SLOT_RANGES]);
	if (!dwarf_address(u, die, SLOT_LOW_PC, &low) || !die_has(die, SLOT_HIGH_PC))
		return false;
	/* DW_AT_high_pc is an address, or, since DWARF 4, the size (2.17.2). */
	if (!dwarf_address(u, die, SLOT_HIGH_PC, &high))
		high = low + die->slot[SLOT_HIGH_PC].value;
	hand_out(&v, low, high);
	return true;
}
