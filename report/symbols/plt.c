/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Stubs of the procedure linkage table. A stub jumps through a slot of the GOT, and the
 * slot's relocation names the function. So the stub's jump is decoded, which works for
 * .plt, .plt.sec and .plt.got alike, whatever their order.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "common/shortage.h"
#include "common/sorted.h"
#include "report/symbols/symbol_table.h"

#define STUB_BYTES 16
#define SYMBOL_BYTES 24
#define RELOCATION_BYTES 24
#define NAME_BYTES_MAX 4096 /* with its NUL */
#define SUFFIX "@plt"
#define SECTIONS_MAX 8

/* The GOT slot that the x86-64 stub at the cursor jumps through; 0: it is no such stub. */
static uint64_t x86_slot(struct cursor c, uint64_t address)
{
	const uint8_t *code = cursor_bytes(&c, STUB_BYTES);
	size_t i = 0;

	if (!code)
		return 0;
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		i = 4;
	if (code[i] == 0xf2)
		i++;
	if (code[i] != 0xff || code[i + 1] != 0x25)
		return 0;
	cursor_seek(&c, (uint64_t)(code - c.start) + i + 2);
	return address + i + 6 + (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
}

/* The same for arm64: adrp x16, page; ldr x17, [x16, #offset]. */
static uint64_t arm_slot(struct cursor c, uint64_t address)
{
	uint32_t first = cursor_u32(&c), second;
	uint64_t page;

	if (first == 0xd503245f) { /* bti c */
		first = cursor_u32(&c);
		address += 4;
	}
	second = cursor_u32(&c);
	if (!cursor_ok(&c) || (first & 0x9f00001f) != 0x90000010 ||
	    (second & 0xffc003ff) != 0xf9400211)
		return 0;
	page = (uint64_t)(first >> 5 & 0x7ffff) << 2 | (first >> 29 & 3);
	if (page & 1 << 20)
		page |= ~UINT64_C(0) << 21;
	return (address & ~UINT64_C(4095)) + (page << 12) + ((second >> 10 & 0xfff) << 3);
}

/* An address in a stub, and the slot that the stub jumps through. */
struct stub {
	uint64_t slot, start, size;
	size_t which;
};

struct stubs {
	const struct elf_file *file;
	const struct elf_section *sections[SECTIONS_MAX];
	size_t section_count;
	struct stub *list; /* by slot */
	size_t n;
};

static void find_sections(struct stubs *s)
{
	for (size_t i = 0; i < s->file->section_count && s->section_count < SECTIONS_MAX; i++) {
		const struct elf_section *section = &s->file->sections[i];

		if (section->type == SHT_PROGBITS && section->size &&
		    !strncmp(section->name, ".plt", 4))
			s->sections[s->section_count++] = section;
	}
}

static void add_stub(struct stubs *s, uint64_t address, size_t which)
{
	for (size_t i = 0; i < s->section_count; i++) {
		const struct elf_section *section = s->sections[i];
		struct stub stub = { .which = which, .size = STUB_BYTES };
		struct cursor c;

		if (address < section->address || address - section->address >= section->size)
			continue;
		/* .plt.got of x86 has stubs of 8 bytes where there is no endbr64. */
		if (section->entry_size == 8)
			stub.size = 8;
		stub.start = address - (address - section->address) % stub.size;
		c = elf_file_at(s->file, stub.start);
		stub.slot = s->file->machine == EM_AARCH64 ? arm_slot(c, stub.start)
							   : x86_slot(c, stub.start);
		if (stub.slot)
			s->list[s->n++] = stub;
		return;
	}
}

static int by_slot(const void *left, const void *right)
{
	const struct stub *a = left, *b = right;

	return (a->slot > b->slot) - (a->slot < b->slot);
}

static size_t first_of_slot(const struct stubs *s, uint64_t slot)
{
	return slot ? sorted_up_to(s->list, s->n, SORTED_BY(struct stub, slot), slot - 1) : 0;
}

/* "name@plt" for a symbol of a table, or NULL. */
static const char *symbol_text(const struct elf_file *e, uint32_t table, uint64_t number,
			       struct arena *arena)
{
	struct cursor symbols, strings;
	const char *name;
	size_t size;
	char *text;

	if (table >= e->section_count || e->sections[table].link >= e->section_count || !number)
		return NULL;
	symbols = elf_section_data(e, &e->sections[table]);
	cursor_seek(&symbols, number * SYMBOL_BYTES);
	strings = elf_section_data(e, &e->sections[e->sections[table].link]);
	cursor_skip(&strings, cursor_u32(&symbols));
	name = cursor_ok(&symbols) ? cursor_short_string(&strings, NAME_BYTES_MAX) : NULL;
	if (!name || !*name)
		return NULL;
	/* Not strlen() again: the file may be written to meanwhile. */
	size = (size_t)(strings.at - (const uint8_t *)name) - 1;
	text = shortage_check(arena_take(arena, size + sizeof(SUFFIX)));
	if (!text)
		return NULL;
	memcpy(text, name, size);
	memcpy(text + size, SUFFIX, sizeof(SUFFIX));
	return text;
}

/* All stubs of a slot get one name, from the first relocation of the slot that has one. */
static void name_stubs(const struct stubs *s, const struct elf_section *relocations,
		       const struct symbol_search *search)
{
	struct cursor c = elf_section_data(s->file, relocations);

	for (;;) {
		uint64_t slot = cursor_u64(&c), info = cursor_u64(&c);
		size_t i = first_of_slot(s, slot);
		const char *name;

		cursor_u64(&c);
		if (!cursor_ok(&c))
			return;
		if (i == s->n || s->list[i].slot != slot || search->names[s->list[i].which].name)
			continue;
		name = symbol_text(s->file, relocations->link, info >> 32, search->arena);
		for (; name && i < s->n && s->list[i].slot == slot; i++)
			search->names[s->list[i].which] =
				(struct symbol_name){ name, s->list[i].start, s->list[i].size };
	}
}

void plt_find(const struct elf_file *e, const struct symbol_search *search)
{
	struct stubs s = { .file = e };
	/* Of all tables together, which may overlap. */
	uint64_t budget = (uint64_t)LIMIT_SYMBOLS * RELOCATION_BYTES;

	find_sections(&s);
	if (!s.section_count)
		return;
	s.list = shortage_check(calloc(search->n ? search->n : 1, sizeof(*s.list)));
	if (!s.list)
		return;
	for (size_t i = 0; i < search->n; i++)
		if (!search->names[i].name)
			add_stub(&s, search->addresses[i], i);
	qsort(s.list, s.n, sizeof(*s.list), by_slot);
	for (size_t i = 0; s.n && i < e->section_count; i++) {
		const struct elf_section *section = &e->sections[i];

		if (section->type != SHT_RELA || !(section->flags & SHF_ALLOC) ||
		    section->size > budget)
			continue;
		budget -= section->size;
		name_stubs(&s, section, search);
	}
	free(s.list);
}
