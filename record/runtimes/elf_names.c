/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/elf_names.h"

#include <elf.h>
#include <string.h>

#include "common/limits.h"

#define SYMBOL_SIZE 24
#define NAME_MAX_BYTES 96 /* no name that is looked for is longer */

struct symbol {
	const char *name;
	uint64_t address, size;
	bool defined;
};

static struct symbol read_symbol(struct cursor *table, struct cursor names)
{
	struct symbol s = { 0 };
	uint32_t name = cursor_u32(table);

	cursor_skip(table, 2);
	s.defined = cursor_u16(table) != SHN_UNDEF;
	s.address = cursor_u64(table);
	s.size = cursor_u64(table);
	cursor_seek(&names, name);
	s.name = cursor_short_string(&names, NAME_MAX_BYTES);
	if (!s.name || !cursor_ok(table))
		s = (struct symbol){ .name = "" };
	return s;
}

static bool open_table(const struct elf_file *e, const struct elf_section *section,
		       struct cursor *table, struct cursor *names)
{
	if (!section || section->link >= e->section_count)
		return false;
	*table = elf_section_data(e, section);
	*names = elf_section_data(e, &e->sections[section->link]);
	return cursor_left(table) >= SYMBOL_SIZE;
}

static bool is_name(const char *name, const char *wanted)
{
	size_t size = strlen(wanted);

	if (size && wanted[size - 1] == '*')
		return !strncmp(name, wanted, size - 1);
	return !strcmp(name, wanted);
}

/* Looks at the first `left` symbols. */
static void find_in(const struct elf_file *e, const char *section, size_t left,
		    struct elf_name *wanted, size_t n)
{
	struct cursor table, names;

	if (!open_table(e, elf_file_section(e, section), &table, &names))
		return;
	while (cursor_left(&table) >= SYMBOL_SIZE && left--) {
		struct symbol s = read_symbol(&table, names);

		for (size_t i = 0; s.defined && i < n; i++) {
			if (wanted[i].address || !is_name(s.name, wanted[i].name))
				continue;
			wanted[i].address = s.address;
			wanted[i].size = s.size;
		}
	}
}

void elf_names_find(const struct elf_file *e, struct elf_name *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		names[i].address = names[i].size = 0;
	find_in(e, ".dynsym", LIMIT_RUNTIME_SYMBOLS, names, n);
	find_in(e, ".symtab", LIMIT_RUNTIME_SYMBOLS, names, n);
}

void elf_names_span(const struct elf_file *e, struct elf_name *name)
{
	uint64_t start = UINT64_MAX, end = 0;
	struct cursor table, names;
	size_t left = LIMIT_RUNTIME_SYMBOLS;

	name->address = name->size = 0;
	if (!open_table(e, elf_file_section(e, ".symtab"), &table, &names))
		return;
	while (cursor_left(&table) >= SYMBOL_SIZE && left--) {
		struct symbol s = read_symbol(&table, names);

		if (!s.defined || strncmp(s.name, name->name, strlen(name->name)) != 0)
			continue;
		start = s.address < start ? s.address : start;
		end = s.address + s.size > end ? s.address + s.size : end;
	}
	if (end <= start)
		return;
	name->address = start;
	name->size = end - start;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* Symbols of a bucket follow each other; the last one's hash is odd. */
static bool in_chain(struct cursor chain, struct cursor table, struct cursor names, uint32_t hash,
		     const char *name)
{
	for (size_t left = LIMIT_HASH_CHAIN; left; left--) {
		uint32_t its = cursor_u32(&chain);
		struct symbol s = read_symbol(&table, names);

		if (!cursor_ok(&chain) || !cursor_ok(&table))
			return false;
		if ((its | 1) == (hash | 1) && s.defined && !strcmp(s.name, name))
			return true;
		if (its & 1)
			return false;
	}
	return false;
}

bool elf_names_has(const struct elf_file *e, const char *name)
{
	struct cursor hashes = elf_section_data(e, elf_file_section(e, ".gnu.hash")), chain, bucket;
	struct elf_name one = { .name = name };
	uint32_t buckets = cursor_u32(&hashes), first = cursor_u32(&hashes);
	uint32_t blooms = cursor_u32(&hashes), hash = gnu_hash(name), symbol;
	struct cursor table, names;

	cursor_skip(&hashes, 4);
	cursor_skip(&hashes, (uint64_t)blooms * 8);
	if (!open_table(e, elf_file_section(e, ".dynsym"), &table, &names))
		return false;
	if (!cursor_ok(&hashes) || !buckets) {
		find_in(e, ".dynsym", LIMIT_UNHASHED_SYMBOLS, &one, 1);
		return one.address != 0;
	}
	bucket = chain = hashes;
	cursor_skip(&bucket, (uint64_t)(hash % buckets) * 4);
	symbol = cursor_u32(&bucket);
	if (symbol < first)
		return false;
	cursor_skip(&chain, (uint64_t)buckets * 4 + (uint64_t)(symbol - first) * 4);
	cursor_skip(&table, (uint64_t)symbol * SYMBOL_SIZE);
	return in_chain(chain, table, names, hash, name);
}
