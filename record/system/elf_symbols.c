/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/elf_symbols.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/limits.h"

#define SYMBOL_SIZE 24
#define NAME_BYTES 16384 /* a symbol with a longer name is left out */

/* Adds to `bytes` what is read of the name, whether or not it has an end. */
static const char *read_name(struct cursor names, uint32_t at, uint64_t *bytes)
{
	const char *name;
	size_t left;

	cursor_seek(&names, at);
	left = cursor_left(&names);
	name = cursor_short_string(&names, NAME_BYTES);
	if (name)
		left -= cursor_left(&names);
	*bytes += left < NAME_BYTES ? left : NAME_BYTES;
	return name;
}

static bool read_one(const struct elf_file *file, struct cursor *table, struct cursor names,
		     struct elf_symbol *symbol, uint64_t *name_bytes)
{
	uint32_t name = cursor_u32(table);
	uint8_t info = cursor_u8(table), type = ELF64_ST_TYPE(info);
	uint16_t section;
	uint64_t address;

	cursor_skip(table, 1);
	section = cursor_u16(table);
	address = cursor_u64(table);
	symbol->size = cursor_u64(table);
	if (!cursor_ok(table) || section == SHN_UNDEF ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    !elf_file_address_to_offset(file, address, &symbol->start) ||
	    symbol->size > file->size - symbol->start)
		return false;
	symbol->name = read_name(names, name, name_bytes);
	return symbol->name && *symbol->name;
}

static struct error *cost_too_much(uint64_t most)
{
	return error_new(ERROR_LIMIT, "it has more than %" PRIu64 " symbols, or long names", most);
}

static struct error *read_table(struct elf_symbols *s, const struct elf_file *file,
				const char *name, uint64_t most)
{
	const struct elf_section *section = elf_file_section(file, name);
	struct cursor table = elf_section_data(file, section), names;
	size_t n = cursor_left(&table) / SYMBOL_SIZE;

	if (!n || section->link >= file->section_count)
		return NULL;
	if (n > LIMIT_SYMBOLS)
		return error_new(ERROR_LIMIT, "%s has %zu entries, of which at most %d are read",
				 name, n, LIMIT_SYMBOLS);
	if (s->entries + n > most)
		return cost_too_much(most);
	names = elf_section_data(file, &file->sections[section->link]);
	s->entries += n;
	while (n--) {
		struct elf_symbol symbol;
		bool is_function = read_one(file, &table, names, &symbol, &s->name_bytes);

		if (s->name_bytes > LIMIT_SYMBOL_NAME_BYTES)
			return error_new(ERROR_LIMIT,
					 "the names of its functions have more than the %d MiB "
					 "that are read",
					 LIMIT_SYMBOL_NAME_BYTES >> 20);
		if (elf_symbols_cost(s) > most)
			return cost_too_much(most);
		if (!is_function)
			continue;
		if (!array_reserve(&s->symbols, &s->capacity, s->n + 1))
			return error_memory();
		s->symbols[s->n++] = symbol;
	}
	return NULL;
}

/* By start; those with a size first. To compare the names would take too long if all are long. */
static int by_start(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Makes the name that comes first in the alphabet the first one of each place. */
static void put_preferred_first(struct elf_symbols *s)
{
	struct elf_symbol *first = s->symbols;

	for (size_t i = 1; i < s->n; i++) {
		struct elf_symbol *other = &s->symbols[i], before = *first;

		if (other->start != first->start) {
			first = other;
		} else if (!other->size == !first->size && strcmp(other->name, first->name) < 0) {
			*first = *other;
			*other = before;
		}
	}
}

uint64_t elf_symbols_cost(const struct elf_symbols *s)
{
	return s->entries + s->name_bytes / ELF_SYMBOLS_NAME_BYTES;
}

struct error *elf_symbols_read(struct elf_symbols *s, const struct elf_file *file)
{
	return elf_symbols_read_some(s, file, UINT64_MAX);
}

struct error *elf_symbols_read_some(struct elf_symbols *s, const struct elf_file *file,
				    uint64_t most)
{
	struct error *error;

	*s = (struct elf_symbols){ 0 };
	error = read_table(s, file, ".symtab", most);
	if (!error)
		error = read_table(s, file, ".dynsym", most);
	if (error) {
		free(s->symbols);
		*s = (struct elf_symbols){ .entries = s->entries, .name_bytes = s->name_bytes };
	} else if (s->n) {
		qsort(s->symbols, s->n, sizeof(*s->symbols), by_start);
		put_preferred_first(s);
	}
	return error;
}

void elf_symbols_release(struct elf_symbols *s)
{
	free(s->symbols);
	*s = (struct elf_symbols){ 0 };
}

const struct elf_symbol *elf_symbols_named(const struct elf_symbols *s, const char *name)
{
	size_t size = strlen(name);

	for (size_t i = 0; i < s->n; i++) {
		const char *other = s->symbols[i].name;

		if (!strncmp(other, name, size) && (!other[size] || other[size] == '@'))
			return &s->symbols[i];
	}
	return NULL;
}

uint64_t elf_symbols_end(const struct elf_symbols *s, size_t i)
{
	const struct elf_symbol *symbol = &s->symbols[i];

	/* Of several names for one place, the first in the order is preferred. */
	if (i && symbol[-1].start == symbol->start)
		return symbol->start;
	while (i + 1 < s->n && s->symbols[i + 1].start == symbol->start)
		i++;
	if (i + 1 < s->n && s->symbols[i + 1].start - symbol->start < symbol->size)
		return s->symbols[i + 1].start;
	return symbol->start + symbol->size;
}
