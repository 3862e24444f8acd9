/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbols/symbol_table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "common/shortage.h"
#include "common/sorted.h"

#define SYMBOL_BYTES 24
#define NAME_MAX_BYTES (64 * 1024)

struct symbol {
	uint32_t name;
	uint8_t info;
	uint16_t section;
	uint64_t value, size;
};

struct symbol_reader {
	const struct elf_file *file;
	struct cursor table, strings;
};

static bool is_too_large(const struct elf_section *table)
{
	return table->type != SHT_NOBITS && table->size / SYMBOL_BYTES > LIMIT_SYMBOLS;
}

bool symbol_table_too_large(const struct elf_file *e)
{
	const struct elf_section *table = elf_file_section(e, ".symtab");

	return table && is_too_large(table);
}

static bool reader_open(struct symbol_reader *r, const struct elf_file *e, const char *name)
{
	const struct elf_section *table = elf_file_section(e, name);

	if (!table || table->type == SHT_NOBITS || is_too_large(table) ||
	    table->link >= e->section_count)
		return false;
	r->file = e;
	r->table = elf_section_data(e, table);
	r->strings = elf_section_data(e, &e->sections[table->link]);
	return cursor_left(&r->table) >= SYMBOL_BYTES;
}

static bool reader_next(struct symbol_reader *r, struct symbol *s)
{
	struct cursor *c = &r->table;

	s->name = cursor_u32(c);
	s->info = cursor_u8(c);
	cursor_u8(c);
	s->section = cursor_u16(c);
	s->value = cursor_u64(c);
	s->size = cursor_u64(c);
	return cursor_ok(c);
}

/* The name, or NULL when it is empty, too long or outside. */
static const char *reader_text(const struct symbol_reader *r, uint32_t offset)
{
	size_t left = cursor_left(&r->strings);
	const char *text;

	if (offset >= left)
		return NULL;
	text = (const char *)r->strings.at + offset;
	left -= offset;
	if (!*text)
		return NULL;
	return memchr(text, 0, left < NAME_MAX_BYTES ? left : NAME_MAX_BYTES) ? text : NULL;
}

bool symbol_table_value(const struct elf_file *e, const char *name, uint64_t *value)
{
	struct symbol_reader r;
	struct symbol s;

	if (!reader_open(&r, e, ".symtab"))
		return false;
	while (reader_next(&r, &s)) {
		const char *text = reader_text(&r, s.name);

		if (text && s.section != SHN_UNDEF && !strcmp(text, name)) {
			*value = s.value;
			return true;
		}
	}
	return false;
}

/* -------- choosing -------- */

/* The best symbol that begins after the address before this one, and not after this one. */
struct candidate {
	const char *name; /* NULL: none */
	uint64_t start, end;
	uint64_t size;
	uint32_t rank;
};

struct choice {
	const struct symbol_search *search;
	struct candidate *sized, *unsized; /* by address */
};

/* False without memory. To be released in both cases. */
static bool choice_init(struct choice *c, const struct symbol_search *search)
{
	size_t room = search->n ? search->n : 1;

	*c = (struct choice){ .search = search };
	c->sized = shortage_check(calloc(room, sizeof(*c->sized)));
	c->unsized = shortage_check(calloc(room, sizeof(*c->unsized)));
	return c->sized && c->unsized;
}

static void choice_release(struct choice *c)
{
	free(c->sized);
	free(c->unsized);
}

/* Lower is better; of equal ranks the first by name counts, whatever the order in the table. */
static uint32_t rank_of(uint8_t info, const char *name)
{
	uint8_t binding = ELF64_ST_BIND(info);
	uint32_t underscores = 0;

	while (name[underscores] == '_' && underscores < 15)
		underscores++;
	return (binding == STB_LOCAL ? 1u << 8 : 0) | underscores << 4 | (binding == STB_WEAK);
}

static bool is_better(const struct candidate *new, const struct candidate *old)
{
	if (!old->name || new->start != old->start)
		return !old->name || new->start > old->start;
	if (new->rank != old->rank)
		return new->rank < old->rank;
	return strcmp(new->name, old->name) < 0;
}

static void choice_add(struct choice *c, const struct symbol_reader *r, const struct symbol *s,
		       uint64_t end)
{
	size_t i = sorted_first(c->search->addresses, c->search->n, s->value);
	struct candidate new = { .start = s->value, .end = end, .size = s->size }, *slot;

	if (i == c->search->n)
		return;
	slot = s->size ? &c->sized[i] : &c->unsized[i];
	if (slot->name && slot->start > s->value)
		return;
	new.name = reader_text(r, s->name);
	/* "$x", "$d" (arm64) and ".L" (x86) mark places, not functions. */
	if (!new.name || *new.name == '$' || !strncmp(new.name, ".L", 2))
		return;
	new.rank = rank_of(s->info, new.name);
	if (is_better(&new, slot))
		*slot = new;
}

/* Names of .symtab may have a version: "pthread_create@@GLIBC_2.34". */
static const char *without_version(const char *name, struct arena *arena)
{
	const char *at = strchr(name, '@'), *copy;

	if (!at || at == name)
		return name;
	copy = shortage_check(arena_text(arena, name, (size_t)(at - name)));
	return copy ? copy : name;
}

static void choice_finish(struct choice *c)
{
	const struct symbol_search *search = c->search;
	struct candidate sized = { 0 }, unsized = { 0 };

	for (size_t i = 0; i < search->n; i++) {
		const struct candidate *best = NULL;

		if (c->sized[i].name)
			sized = c->sized[i];
		if (c->unsized[i].name)
			unsized = c->unsized[i];
		if (search->names[i].name)
			continue;
		if (sized.name && search->addresses[i] < sized.end)
			best = &sized;
		/* After the end of a function with a size there is padding only. */
		else if (unsized.name && search->addresses[i] < unsized.end &&
			 (!sized.name || sized.start < unsized.start))
			best = &unsized;
		if (best)
			search->names[i] = (struct symbol_name){
				without_version(best->name, search->arena), best->start, best->size
			};
	}
}

/* -------- tables -------- */

/* Where a symbol's code ends at the latest; 0: it is no code. */
static uint64_t symbol_end(const struct elf_file *e, const struct symbol *s)
{
	const struct elf_section *section;
	uint8_t type = ELF64_ST_TYPE(s->info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return 0;
	if (s->section == SHN_UNDEF || s->section >= SHN_LORESERVE)
		return 0;
	if (s->section >= e->section_count)
		return s->size ? s->value + s->size : 0;
	section = &e->sections[s->section];
	if (!(section->flags & SHF_EXECINSTR))
		return 0;
	return s->size ? s->value + s->size : section->address + section->size;
}

bool symbol_table_find(const struct elf_file *e, const char *table,
		       const struct symbol_search *search)
{
	const uint64_t *addresses = search->addresses;
	size_t n = search->n;
	struct symbol_reader r;
	struct choice c;
	struct symbol s;

	if (!reader_open(&r, e, table))
		return false;
	if (choice_init(&c, search)) {
		while (n && reader_next(&r, &s)) {
			uint64_t end = symbol_end(e, &s);

			if (end > addresses[0] && s.value <= addresses[n - 1])
				choice_add(&c, &r, &s, end);
		}
		choice_finish(&c);
	}
	choice_release(&c);
	return true;
}

void symbol_list_find(const struct prf_symbol *symbols, size_t count,
		      const struct symbol_search *search)
{
	size_t next = 0;

	for (size_t i = 0; i < search->n && count; i++) {
		const struct prf_symbol *s;
		uint64_t address = search->addresses[i];

		while (next < count && symbols[next].start <= address)
			next++;
		if (!next || search->names[i].name)
			continue;
		s = &symbols[next - 1];
		if (!s->size || address - s->start < s->size)
			search->names[i] = (struct symbol_name){ s->name, s->start, s->size };
	}
}
