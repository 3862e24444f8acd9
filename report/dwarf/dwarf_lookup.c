/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/dwarf/dwarf_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "report/dwarf/dwarf_constants.h"
#include "report/dwarf/dwarf_functions.h"
#include "report/dwarf/dwarf_line.h"
#include "report/dwarf/dwarf_ranges.h"
#include "common/shortage.h"
#include "common/sorted.h"

#define NO_SITE UINT32_MAX

/* -------- units -------- */

struct unit_search {
	struct dwarf *dwarf;
	const uint64_t *addresses;
	size_t n;
	uint32_t *units;
	uint64_t *spans; /* by address: the size of the range by which it has its unit */
	uint32_t unit;
};

static void cover_unit(uint64_t low, uint64_t high, void *context)
{
	struct unit_search *s = context;
	size_t from = sorted_first(s->addresses, s->n, low), first = from;

	for (; from < s->n && s->addresses[from] < high; from++) {
		/*
		 * Units overlap where the linker folded functions, or where a unit claims all
		 * between its first and last function: the narrowest range says most.
		 */
		if (s->units[from] != DWARF_NO_UNIT && s->spans[from] <= high - low)
			continue;
		s->units[from] = s->unit;
		s->spans[from] = high - low;
	}
	dwarf_spend(s->dwarf, from - first);
}

void dwarf_find_units(struct dwarf *d, const uint64_t *addresses, size_t n, uint32_t *units)
{
	struct unit_search s = { .dwarf = d, .addresses = addresses, .n = n, .units = units };

	memset(units, 0xff, n * sizeof(*units));
	s.spans = shortage_check(calloc(n ? n : 1, sizeof(*s.spans)));
	for (size_t i = 0; s.spans && i < d->unit_count && i < DWARF_NO_UNIT; i++) {
		struct dwarf_unit *u = &d->units[i], bases;
		struct die die;

		if (u->type == DW_UT_TYPE || u->type == DW_UT_PARTIAL || !dwarf_spend(d, 0))
			continue;
		s.unit = (uint32_t)i;
		if (dwarf_unit_peek(u, &bases, &die))
			dwarf_ranges(&bases, &die, cover_unit, &s);
	}
	free(s.spans);
}

/* -------- one unit -------- */

struct unit_lookup {
	struct dwarf_unit *unit;  /* with the line table */
	struct dwarf_unit *where; /* with the functions; the split one, if there is one */
	struct line_table lines;
	bool has_lines;
	struct line_row *rows;
	struct dwarf_functions functions;
	struct arena *arena;
};

static void find_lines(struct unit_lookup *l, const uint64_t *addresses, size_t n)
{
	if (line_table_open(&l->lines, l->unit))
		return;
	l->has_lines = true;
	line_table_find(&l->lines, addresses, n, l->rows);
}

static void name_place(struct unit_lookup *l, struct dwarf_place *place, uint64_t die)
{
	place->function = dwarf_function_name(l->where, die, &place->start_line);
}

static int answer(struct unit_lookup *l, size_t i, struct dwarf_answer *a)
{
	const struct inline_site *sites = l->functions.sites;
	const struct line_row *row = &l->rows[i];
	uint64_t function = l->functions.function[i];
	uint64_t file = row->file, line = row->line;
	struct dwarf_place *place;
	size_t n = 1;

	*a = (struct dwarf_answer){ .function_known = function != 0 };
	if (!function && !row->found)
		return 0;
	for (uint32_t s = l->functions.innermost[i]; s != NO_SITE; s = sites[s].outer)
		n++;
	place = arena_take(l->arena, n * sizeof(*place));
	if (!place)
		return -1;
	a->places = place;
	a->n = n;
	for (uint32_t s = l->functions.innermost[i];; s = sites[s].outer, place++) {
		*place = (struct dwarf_place){ .function = "", .file = "" };
		if (l->has_lines) {
			place->file = line_table_path(&l->lines, file, l->arena);
			place->line = line < UINT32_MAX ? (uint32_t)line : 0;
		}
		if (s == NO_SITE)
			break;
		name_place(l, place, sites[s].die);
		file = sites[s].call_file;
		line = sites[s].call_line;
	}
	if (function)
		name_place(l, place, function);
	return 0;
}

int dwarf_lookup_unit(const struct dwarf_lookup *lookup, struct dwarf_unit *u,
		      struct dwarf_answer *answers)
{
	const size_t n = lookup->n;
	struct unit_lookup l = {
		.unit = u,
		.where = u,
		.functions = { .addresses = lookup->addresses, .n = n },
		.arena = lookup->arena,
	};
	int result = -1;

	memset(answers, 0, n * sizeof(*answers));
	if (!dwarf_unit_prepare(u))
		return 0;
	if (lookup->split && *u->dwo_name) {
		struct dwarf_unit *split = lookup->split(u, lookup->context);

		if (split)
			l.where = split;
	}
	l.rows = calloc(n ? n : 1, sizeof(*l.rows));
	if (!l.rows || dwarf_functions_find(&l.functions, l.where, lookup->inlines))
		goto out;
	if (lookup->lines)
		find_lines(&l, lookup->addresses, n);
	for (size_t i = 0; i < n; i++)
		if (answer(&l, i, &answers[i]))
			goto out;
	result = 0;
out:
	if (l.has_lines)
		line_table_release(&l.lines);
	dwarf_functions_release(&l.functions);
	free(l.rows);
	return result;
}
