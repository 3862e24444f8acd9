/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/object_symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define SYMBOL_SIZE 24 /* of an Elf64_Sym */

struct candidate {
	struct object_symbol symbol;
	uint8_t rank; /* higher is better, among those with the same start */
};

struct reading {
	const struct elf_file *file;
	struct candidate *list;
	size_t count, capacity;
};

static bool executable(const struct elf_file *e, uint16_t section, uint64_t *section_end)
{
	const struct elf_section *s;

	*section_end = UINT64_MAX;
	if (section == SHN_UNDEF || section == SHN_ABS || section == SHN_COMMON)
		return false;
	if (section >= e->section_count)
		return section >= SHN_LORESERVE;
	s = &e->sections[section];
	if (s->address <= UINT64_MAX - s->size)
		*section_end = s->address + s->size;
	return s->flags & SHF_EXECINSTR;
}

/* Labels that assemblers and compilers leave behind name no function. */
static bool is_label(const char *name)
{
	return !*name || *name == '$' || (name[0] == '.' && name[1] == 'L');
}

static int add_candidate(struct reading *r, struct cursor *entry, struct cursor names)
{
	uint32_t name_offset = cursor_u32(entry);
	uint8_t info = cursor_u8(entry);
	unsigned int type = ELF64_ST_TYPE(info), binding = ELF64_ST_BIND(info);
	uint16_t section;
	uint64_t value, size, section_end;
	const char *name;

	cursor_u8(entry);
	section = cursor_u16(entry);
	value = cursor_u64(entry);
	size = cursor_u64(entry);
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return 0;
	if (!executable(r->file, section, &section_end))
		return 0;
	cursor_seek(&names, name_offset);
	name = cursor_string(&names);
	if (!name || is_label(name) || value >= section_end)
		return 0;
	if (r->count == r->capacity) {
		size_t capacity = r->capacity ? r->capacity * 2 : 1024;
		struct candidate *list = realloc(r->list, capacity * sizeof(*list));

		if (!list)
			return ELF_ERROR_MEMORY;
		r->list = list;
		r->capacity = capacity;
	}
	r->list[r->count++] = (struct candidate){
		.symbol = { value, size && size <= section_end - value ? value + size : value, name },
		.rank = (uint8_t)((size ? 8 : 0) + (type != STT_NOTYPE ? 4 : 0) +
				  (binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0)),
	};
	return 0;
}

static int read_table(struct reading *r, const struct elf_section *section)
{
	struct cursor entries = elf_section_data(r->file, section);
	struct cursor names;
	int error = 0;

	if (section->link >= r->file->section_count ||
	    (section->entry_size && section->entry_size != SYMBOL_SIZE))
		return 0;
	names = elf_section_data(r->file, &r->file->sections[section->link]);
	while (!error && cursor_left(&entries) >= SYMBOL_SIZE)
		error = add_candidate(r, &entries, names);
	return error;
}

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->symbol.start != b->symbol.start)
		return a->symbol.start < b->symbol.start ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return strcmp(a->symbol.name, b->symbol.name);
}

/* Of each start the best one stays; those without a size reach to the next. */
static int keep_best(struct object_symbols *s, struct reading *r)
{
	if (!r->count)
		return 0;
	qsort(r->list, r->count, sizeof(*r->list), compare_candidates);
	s->list = malloc(r->count * sizeof(*s->list));
	if (!s->list)
		return ELF_ERROR_MEMORY;
	for (size_t i = 0; i < r->count; i++)
		if (!i || r->list[i].symbol.start != r->list[i - 1].symbol.start)
			s->list[s->count++] = r->list[i].symbol;
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i].end == s->list[i].start)
			s->list[i].end = i + 1 < s->count ? s->list[i + 1].start : UINT64_MAX;
	return 0;
}

int object_symbols_read(struct object_symbols *s, const struct elf_file *file)
{
	struct reading r = { .file = file };
	int error = 0;

	*s = (struct object_symbols){ 0 };
	for (size_t i = 0; !error && i < file->section_count; i++) {
		const struct elf_section *section = &file->sections[i];

		if (section->type != SHT_SYMTAB && section->type != SHT_DYNSYM)
			continue;
		if (section->type == SHT_SYMTAB && section->size)
			s->has_symtab = true;
		error = read_table(&r, section);
	}
	if (!error)
		error = keep_best(s, &r);
	free(r.list);
	return error;
}

void object_symbols_release(struct object_symbols *s)
{
	free(s->list);
	*s = (struct object_symbols){ 0 };
}

/* How far back an enclosing symbol is looked for, as when a function has an inner entry. */
#define ENCLOSING 8

const struct object_symbol *object_symbols_find(const struct object_symbols *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = 0; i < ENCLOSING && i < low; i++)
		if (address < s->list[low - 1 - i].end)
			return &s->list[low - 1 - i];
	return NULL;
}
