/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/code_ranges.h"

#include <elf.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/sorted.h"

bool code_ranges_add(struct code_ranges *r, uint64_t start, uint64_t end)
{
	if (start >= end)
		return true;
	if (!array_reserve(&r->all, &r->capacity, r->n + 1))
		return false;
	r->all[r->n++] = (struct code_range){ start, end };
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sorts, and cuts off what overlaps. */
static void put_in_order(struct code_ranges *r)
{
	uint64_t end = 0;
	size_t n = 0;

	if (r->n)
		qsort(r->all, r->n, sizeof(*r->all), by_start);
	for (size_t i = 0; i < r->n; i++) {
		struct code_range range = r->all[i];

		if (range.start < end)
			range.start = end;
		if (range.start >= range.end)
			continue;
		r->all[n++] = range;
		end = range.end;
	}
	r->n = n;
}

bool code_ranges_of_file(struct code_ranges *r, const struct elf_file *e)
{
	bool fits = true;

	for (size_t i = 0; i < e->section_count; i++) {
		const struct elf_section *s = &e->sections[i];

		if ((s->flags & SHF_EXECINSTR) && s->type != SHT_NOBITS)
			fits = fits && code_ranges_add(r, s->address, s->address + s->size);
	}
	for (size_t i = 0, sections = r->n; !sections && i < e->load_count; i++) {
		const struct elf_segment *s = e->loads[i];

		if (s->flags & PF_X)
			fits = fits && code_ranges_add(r, s->address, s->address + s->file_size);
	}
	put_in_order(r);
	return fits;
}

void code_ranges_release(struct code_ranges *r)
{
	free(r->all);
	*r = (struct code_ranges){ 0 };
}

size_t code_ranges_next(const struct code_ranges *r, uint64_t address)
{
	return sorted_up_to(r->all, r->n, SORTED_BY(struct code_range, end), address);
}

bool code_ranges_have(const struct code_ranges *r, uint64_t address)
{
	size_t next = code_ranges_next(r, address);

	return next < r->n && r->all[next].start <= address;
}
