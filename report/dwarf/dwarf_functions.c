/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/dwarf/dwarf_functions.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "report/dwarf/dwarf_constants.h"
#include "report/dwarf/dwarf_ranges.h"
#include "common/sorted.h"

#define NO_SITE UINT32_MAX
#define REFERENCES_MAX 16
#define NESTING_MAX 512

/*
 * The offset of the next sibling, by DW_AT_sibling; 0: without it, or not after this DIE and within
 * the unit. Going back would be a loop.
 */
static uint64_t sibling_of(const struct dwarf_unit *u, const struct die *die, uint64_t after)
{
	const struct die_value *v = &die->slot[SLOT_SIBLING];
	uint64_t offset;

	if (!die_has(die, SLOT_SIBLING))
		return 0;
	offset = v->form == DW_FORM_REF_ADDR ? v->value : u->offset + v->value;
	return offset >= after && offset <= u->end ? offset : 0;
}

/* -------- functions -------- */

struct function_search {
	struct dwarf_functions *f;
	struct dwarf *dwarf;
	uint64_t die;
	size_t missing; /* addresses without a function */
};

static void cover_function(uint64_t low, uint64_t high, void *context)
{
	struct function_search *s = context;
	struct dwarf_functions *f = s->f;
	size_t i = sorted_first(f->addresses, f->n, low), first = i;

	for (; i < f->n && f->addresses[i] < high; i++) {
		/* Where the linker folded functions into one, the first in the unit is taken. */
		if (f->function[i])
			continue;
		f->function[i] = s->die;
		s->missing--;
	}
	dwarf_spend(s->dwarf, i - first);
}

static void find_functions(struct dwarf_functions *f, struct dwarf_unit *u)
{
	struct function_search s = { .f = f, .dwarf = u->dwarf, .missing = f->n };
	struct cursor c = dwarf_unit_cursor(u, u->dies);
	struct die die;

	/* Flat: functions within namespaces and functions are found as others are. */
	while (s.missing && cursor_left(&c)) {
		const uint8_t *start = c.at;
		uint64_t code = cursor_uleb(&c);
		const struct abbrev *a;

		if (!code)
			continue;
		a = abbrev_find(u->abbrevs, code);
		if (!a)
			return;
		if (a->tag == DW_TAG_SUBPROGRAM && a->code_range) {
			c.at = start;
			if (die_read(u, &c, &die) != 1 || !dwarf_spend(u->dwarf, 0))
				return;
			s.die = die.offset;
			dwarf_ranges(u, &die, cover_function, &s);
		} else if (a->passable) {
			uint64_t sibling;

			c.at = start;
			if (die_read(u, &c, &die) != 1)
				return;
			sibling = sibling_of(u, &die, cursor_offset(&c));
			if (sibling)
				cursor_seek(&c, sibling);
		} else if (a->fixed != ABBREV_VARIABLE && a->fixed <= cursor_left(&c)) {
			c.at += a->fixed;
		} else {
			die_skip(u, &c, a);
		}
	}
}

/* -------- inlined calls -------- */

/* One function, and which of the addresses lie in it. */
struct inline_search {
	struct dwarf_functions *f;
	struct dwarf_unit *unit;
	const uint64_t *addresses;
	const uint32_t *which; /* of addresses[i]: its number in f */
	size_t n;
	struct die die; /* the call that is looked at */
	uint32_t depth;
	bool hit, failed;
};

static int add_site(struct inline_search *s, uint32_t address)
{
	struct dwarf_functions *f = s->f;
	uint32_t outer = f->innermost[address];

	/* Of two calls at one depth that both have the address, the later one counts. */
	while (outer != NO_SITE && f->sites[outer].depth >= s->depth)
		outer = f->sites[outer].outer;
	if (f->site_count >= UINT32_MAX / 2 ||
	    !array_reserve(&f->sites, &f->site_capacity, f->site_count + 1)) {
		s->failed = true;
		return -1;
	}
	f->sites[f->site_count] = (struct inline_site){
		.die = s->die.offset,
		.call_file = dwarf_number(&s->die, SLOT_CALL_FILE, 0),
		.call_line = dwarf_number(&s->die, SLOT_CALL_LINE, 0),
		.depth = s->depth,
		.outer = outer,
	};
	f->innermost[address] = (uint32_t)f->site_count++;
	return 0;
}

static void cover_call(uint64_t low, uint64_t high, void *context)
{
	struct inline_search *s = context;
	size_t i = sorted_first(s->addresses, s->n, low), first = i;

	for (; i < s->n && s->addresses[i] < high; i++)
		if (add_site(s, s->which[i]))
			return;
	s->hit |= i > first;
	dwarf_spend(s->unit->dwarf, (i - first) * sizeof(struct inline_site));
}

/*
 * Reads the DIEs below the function at the cursor. Lexical blocks add to the nesting of DIEs, not
 * to the depth of calls, so both are kept.
 */
static void read_below(struct inline_search *s, struct cursor *c)
{
	struct dwarf_unit *u = s->unit;
	uint32_t calls[NESTING_MAX] = { 0 }; /* by nesting: inlined calls around */
	size_t nesting = 1;
	struct die *die = &s->die;

	if (die_read(u, c, die) != 1 || !die->abbrev->children)
		return;
	while (nesting && !s->failed) {
		uint32_t around = calls[nesting - 1];
		bool pass = false;

		switch (die_read(u, c, die)) {
		case 1: break;
		case 0: nesting--; continue;
		default: return;
		}
		if (die->abbrev->tag == DW_TAG_INLINED_SUBROUTINE) {
			s->hit = false;
			s->depth = around + 1;
			if (!dwarf_spend(u->dwarf, 0))
				return;
			dwarf_ranges(u, die, cover_call, s);
			/* Calls inlined into this one lie within its ranges. */
			pass = !s->hit;
			around++;
		} else if (die->abbrev->tag == DW_TAG_SUBPROGRAM) {
			/* A nested function is a function of its own, with other addresses. */
			pass = true;
		}
		if (!die->abbrev->children)
			continue;
		if (pass || die->abbrev->passable) {
			uint64_t sibling = sibling_of(u, die, cursor_offset(c));

			if (sibling) {
				cursor_seek(c, sibling);
				continue;
			}
		}
		if (nesting == NESTING_MAX)
			return;
		calls[nesting++] = around;
	}
}

static void find_inlined(struct inline_search *s, uint64_t function)
{
	struct cursor c = dwarf_unit_cursor(s->unit, function);
	const uint8_t *start = c.at;

	read_below(s, &c);
	/* Nested functions lie within these bytes, and are read again for themselves. */
	dwarf_spend(s->unit->dwarf, (uint64_t)(c.at - start));
}

struct located {
	uint64_t function;
	uint32_t which;
};

static int by_function(const void *left, const void *right)
{
	const struct located *a = left, *b = right;

	return SORTED_BY_TWO(a, b, function, which);
}

/* Each function is read once, for all its addresses, which stay sorted. */
static int find_all_inlined(struct dwarf_functions *f, struct dwarf_unit *u)
{
	struct located *order = calloc(f->n, sizeof(*order));
	uint64_t *addresses = calloc(f->n, sizeof(*addresses));
	uint32_t *which = calloc(f->n, sizeof(*which));
	struct inline_search s = { .f = f, .unit = u, .addresses = addresses, .which = which };
	size_t i = 0;

	if (!order || !addresses || !which) {
		s.failed = true;
		goto out;
	}
	for (size_t j = 0; j < f->n; j++)
		order[j] = (struct located){ f->function[j], (uint32_t)j };
	qsort(order, f->n, sizeof(*order), by_function);
	while (i < f->n && !s.failed) {
		uint64_t function = order[i].function;

		for (s.n = 0; i < f->n && order[i].function == function; i++) {
			which[s.n] = order[i].which;
			addresses[s.n++] = f->addresses[order[i].which];
		}
		if (function && dwarf_spend(u->dwarf, 0))
			find_inlined(&s, function);
	}
out:
	free(order);
	free(addresses);
	free(which);
	return s.failed ? -1 : 0;
}

/* -------- both -------- */

int dwarf_functions_find(struct dwarf_functions *f, struct dwarf_unit *u, bool inlines)
{
	const size_t n = f->n;

	f->function = calloc(n ? n : 1, sizeof(*f->function));
	f->innermost = calloc(n ? n : 1, sizeof(*f->innermost));
	if (!f->function || !f->innermost || n > UINT32_MAX)
		return -1;
	memset(f->innermost, 0xff, n * sizeof(*f->innermost));
	if (!n)
		return 0;
	find_functions(f, u);
	return inlines ? find_all_inlined(f, u) : 0;
}

void dwarf_functions_release(struct dwarf_functions *f)
{
	free(f->function);
	free(f->innermost);
	free(f->sites);
	*f = (struct dwarf_functions){ 0 };
}

const char *dwarf_function_name(const struct dwarf_unit *u, uint64_t offset, uint32_t *start_line)
{
	const char *name = "";

	*start_line = 0;
	for (int i = 0; i < REFERENCES_MAX; i++) {
		struct cursor c = dwarf_unit_cursor(u, offset);
		const uint8_t *start = c.at;
		struct die_place next;
		struct die die;
		const char *linkage;

		if (die_read(u, &c, &die) != 1 || !dwarf_spend(u->dwarf, (uint64_t)(c.at - start)))
			break;
		if (!*start_line) {
			uint64_t line = dwarf_number(&die, SLOT_DECL_LINE, 0);

			*start_line = line < UINT32_MAX ? (uint32_t)line : 0;
		}
		linkage = dwarf_text(u, &die, SLOT_LINKAGE_NAME);
		if (*linkage)
			return linkage;
		if (!*name)
			name = dwarf_text(u, &die, SLOT_NAME);
		if (!dwarf_reference(u, &die, SLOT_ORIGIN, &next) &&
		    !dwarf_reference(u, &die, SLOT_SPECIFICATION, &next))
			break;
		u = next.unit;
		offset = next.offset;
	}
	return name;
}
