/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A whole ELF file: symbol tables, procedure linkage stubs, unwind table, compressed
 * sections, .gnu_debugdata and DWARF, for addresses all over its segments.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/dwarf/debug_sections.h"
#include "report/dwarf/dwarf_lookup.h"
#include "report/symbols/symbol_table.h"

#define ADDRESSES 96

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int by_value(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void choose_addresses(const struct elf_file *e, uint64_t *addresses)
{
	for (size_t i = 0; i < ADDRESSES; i++) {
		const struct elf_segment *s = e->segment_count ? &e->segments[i % e->segment_count]
							       : NULL;

		addresses[i] = s ? s->address + s->memory_size / ADDRESSES * i : i * 64;
	}
	qsort(addresses, ADDRESSES, sizeof(*addresses), by_value);
}

static void name_all(const struct elf_file *e, const uint64_t *addresses, struct arena *arena)
{
	struct symbol_name names[ADDRESSES] = { 0 };
	const struct symbol_search search = { addresses, ADDRESSES, names, arena };
	uint64_t value;

	symbol_table_find(e, ".symtab", &search);
	symbol_table_find(e, ".dynsym", &search);
	plt_find(e, &search);
	memset(names, 0, sizeof(names));
	plt_find(e, &search);
	fde_find(e, "file", &search);
	symbol_table_value(e, "_text", &value);
}

static void look_up(const struct elf_file *e, const uint64_t *addresses, bool split)
{
	struct debug_sections s;
	uint32_t units[ADDRESSES];

	if (debug_sections_load(&s, e, e, split))
		return;
	dwarf_find_units(&s.dwarf, addresses, ADDRESSES, units);
	for (size_t i = 0; i < ADDRESSES; i++) {
		struct arena arena = { 0 };
		const struct dwarf_lookup lookup = { .addresses = &addresses[i],
						     .n = 1,
						     .inlines = true,
						     .lines = true,
						     .arena = &arena };
		struct dwarf_answer answer;

		if (units[i] != DWARF_NO_UNIT)
			dwarf_lookup_unit(&lookup, &s.dwarf.units[units[i]], &answer);
		arena_release(&arena);
	}
	debug_sections_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t addresses[ADDRESSES];
	struct arena arena = { 0 };
	struct elf_file e;
	size_t mini;

	if (elf_file_open_memory(&e, data, size))
		return 0;
	choose_addresses(&e, addresses);
	name_all(&e, addresses, &arena);
	look_up(&e, addresses, false);
	look_up(&e, addresses, true);
	free(debug_sections_mini(&e, &mini));
	arena_release(&arena);
	elf_file_release(&e);
	return 0;
}
