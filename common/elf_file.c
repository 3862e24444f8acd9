/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define SECTION_NAME_MAX 256

/* Where the tables are, as the ELF header says. */
struct header {
	uint64_t segments_at, sections_at;
	uint32_t segment_size, segment_count;
	uint32_t section_size, section_count;
	uint32_t names; /* index of the section that holds the section names */
};

static bool range_fits(uint64_t offset, uint64_t size, uint64_t limit)
{
	return offset <= limit && size <= limit - offset;
}

static struct cursor part_of(const struct elf_file *e, uint64_t offset, uint64_t size)
{
	if (!range_fits(offset, size, e->size))
		return cursor_over(NULL, 0);
	return cursor_over(e->data + offset, size);
}

static int read_header(struct elf_file *e, struct header *h)
{
	struct cursor c = cursor_over(e->data, e->size);
	const uint8_t *identity = cursor_bytes(&c, EI_NIDENT);

	if (!identity || memcmp(identity, ELFMAG, SELFMAG) != 0)
		return ELF_ERROR_NOT_ELF;
	if (identity[EI_CLASS] != ELFCLASS64 || identity[EI_DATA] != ELFDATA2LSB)
		return ELF_ERROR_UNSUPPORTED;
	e->type = cursor_u16(&c);
	e->machine = cursor_u16(&c);
	cursor_skip(&c, 4); /* version */
	e->entry = cursor_u64(&c);
	h->segments_at = cursor_u64(&c);
	h->sections_at = cursor_u64(&c);
	cursor_skip(&c, 4 + 2); /* flags, header size */
	h->segment_size = cursor_u16(&c);
	h->segment_count = cursor_u16(&c);
	h->section_size = cursor_u16(&c);
	h->section_count = cursor_u16(&c);
	h->names = cursor_u16(&c);
	return cursor_ok(&c) ? ELF_OK : ELF_ERROR_CORRUPT;
}

static void read_section(struct cursor *c, struct elf_section *s, uint32_t *name)
{
	*name = cursor_u32(c);
	s->name = "";
	s->type = cursor_u32(c);
	s->flags = cursor_u64(c);
	s->address = cursor_u64(c);
	s->offset = cursor_u64(c);
	s->size = cursor_u64(c);
	s->link = cursor_u32(c);
	s->info = cursor_u32(c);
	cursor_skip(c, 8); /* alignment */
	s->entry_size = cursor_u64(c);
}

/* Counts that do not fit into the ELF header stand in the first section header. */
static void read_large_counts(struct elf_file *e, struct header *h)
{
	struct cursor c = part_of(e, h->sections_at, sizeof(Elf64_Shdr));
	struct elf_section first;
	uint32_t name;

	if (h->section_size != sizeof(Elf64_Shdr))
		return;
	read_section(&c, &first, &name);
	if (!cursor_ok(&c))
		return;
	if (h->section_count == 0 && first.size <= UINT32_MAX)
		h->section_count = (uint32_t)first.size;
	if (h->names == SHN_XINDEX)
		h->names = first.link;
	if (h->segment_count == PN_XNUM)
		h->segment_count = first.info;
}

static int read_segments(struct elf_file *e, const struct header *h)
{
	struct cursor c;

	if (!h->segment_count)
		return ELF_OK;
	if (h->segment_size != sizeof(Elf64_Phdr) ||
	    !range_fits(h->segments_at, (uint64_t)h->segment_count * sizeof(Elf64_Phdr), e->size))
		return ELF_ERROR_CORRUPT;
	e->segments = calloc(h->segment_count, sizeof(*e->segments));
	if (!e->segments)
		return ELF_ERROR_MEMORY;
	c = part_of(e, h->segments_at, (uint64_t)h->segment_count * sizeof(Elf64_Phdr));
	for (uint32_t i = 0; i < h->segment_count; i++) {
		struct elf_segment *s = &e->segments[i];

		s->type = cursor_u32(&c);
		s->flags = cursor_u32(&c);
		s->offset = cursor_u64(&c);
		s->address = cursor_u64(&c);
		cursor_skip(&c, 8); /* physical address */
		s->file_size = cursor_u64(&c);
		s->memory_size = cursor_u64(&c);
		cursor_skip(&c, 8); /* alignment */
		if (!range_fits(s->offset, s->file_size, e->size))
			s->file_size = 0;
	}
	e->segment_count = h->segment_count;
	return ELF_OK;
}

static void name_sections(struct elf_file *e, const struct header *h, const uint32_t *names)
{
	struct cursor table;

	if (h->names >= e->section_count)
		return;
	table = elf_section_data(e, &e->sections[h->names]);
	for (size_t i = 0; i < e->section_count; i++) {
		struct cursor c = table;
		const char *name;

		cursor_seek(&c, names[i]);
		/* A limit, so that a million names cannot all be megabytes long. */
		if (cursor_left(&c) > SECTION_NAME_MAX)
			c.end = c.at + SECTION_NAME_MAX;
		name = cursor_string(&c);
		if (name)
			e->sections[i].name = name;
	}
}

/* A section table that is missing or cut off is normal (sstrip, memory images): none then. */
static int read_sections(struct elf_file *e, const struct header *h)
{
	uint64_t bytes = (uint64_t)h->section_count * sizeof(Elf64_Shdr);
	struct cursor c;
	uint32_t *names;

	if (!h->sections_at || !h->section_count || h->section_size != sizeof(Elf64_Shdr) ||
	    !range_fits(h->sections_at, bytes, e->size))
		return ELF_OK;
	e->sections = calloc(h->section_count, sizeof(*e->sections));
	names = calloc(h->section_count, sizeof(*names));
	if (!e->sections || !names) {
		free(names);
		return ELF_ERROR_MEMORY;
	}
	c = part_of(e, h->sections_at, bytes);
	for (uint32_t i = 0; i < h->section_count; i++) {
		struct elf_section *s = &e->sections[i];

		read_section(&c, s, &names[i]);
		if (s->type != SHT_NOBITS && !range_fits(s->offset, s->size, e->size))
			s->size = 0;
	}
	e->section_count = h->section_count;
	name_sections(e, h, names);
	free(names);
	return ELF_OK;
}

size_t elf_note_build_id(struct cursor c, uint64_t align, uint8_t build_id[ELF_BUILD_ID_MAX])
{
	align = align == 8 ? 8 : 4;
	while (cursor_ok(&c) && cursor_left(&c) >= 12) {
		uint32_t name_size = cursor_u32(&c);
		uint32_t size = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		const uint8_t *name = cursor_bytes(&c, name_size);
		const uint8_t *content;

		cursor_skip(&c, -(uint64_t)cursor_offset(&c) & (align - 1));
		content = cursor_bytes(&c, size);
		if (!name || !content)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && memcmp(name, "GNU", 4) == 0 &&
		    size) {
			size = size < ELF_BUILD_ID_MAX ? size : ELF_BUILD_ID_MAX;
			memcpy(build_id, content, size);
			return size;
		}
		cursor_skip(&c, -(uint64_t)cursor_offset(&c) & (align - 1));
	}
	return 0;
}

/* Notes that overlap are read again for each header that names them, but not without end. */
static void try_notes(struct elf_file *e, struct cursor notes, uint64_t *budget)
{
	if (e->build_id_size || cursor_left(&notes) > *budget)
		return;
	*budget -= cursor_left(&notes);
	e->build_id_size = (uint8_t)elf_note_build_id(notes, 4, e->build_id);
}

static void find_build_id(struct elf_file *e)
{
	uint64_t budget = 2 * (uint64_t)e->size;

	for (size_t i = 0; i < e->segment_count; i++) {
		const struct elf_segment *s = &e->segments[i];

		if (s->type == PT_NOTE)
			try_notes(e, part_of(e, s->offset, s->file_size), &budget);
	}
	/* Relocatable files, such as kernel modules, have sections only. */
	for (size_t i = 0; i < e->section_count; i++)
		if (e->sections[i].type == SHT_NOTE)
			try_notes(e, elf_section_data(e, &e->sections[i]), &budget);
}

static int decode(struct elf_file *e)
{
	struct header h = { 0 };
	int error = read_header(e, &h);

	if (error)
		return error;
	read_large_counts(e, &h);
	error = read_segments(e, &h);
	if (!error)
		error = read_sections(e, &h);
	if (!error)
		find_build_id(e);
	return error;
}

int elf_file_open_memory(struct elf_file *e, const void *data, size_t size)
{
	int error;

	*e = (struct elf_file){ .data = data, .size = size, .map.slot = -1 };
	error = decode(e);
	if (error)
		elf_file_release(e);
	return error;
}

int elf_file_open(struct elf_file *e, int fd)
{
	struct mapped_file map;
	int error;

	*e = (struct elf_file){ .map.slot = -1 };
	if (mapped_file_open(&map, fd))
		return errno == ENOMEM ? ELF_ERROR_MEMORY : ELF_ERROR_IO;
	*e = (struct elf_file){ .data = map.data, .size = map.size, .map = map };
	error = decode(e);
	if (error)
		elf_file_release(e);
	return error;
}

int elf_file_open_vdso(struct elf_file *e)
{
	const void *at = (const void *)getauxval(AT_SYSINFO_EHDR);
	uint64_t size = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
	int error = at ? elf_file_open_memory(e, at, page) : ELF_ERROR_IO;

	if (error)
		return error;
	/* The program header says how long it is, but for the section table behind, in its last
	 * page. */
	for (size_t i = 0; i < e->segment_count; i++)
		if (e->segments[i].type == PT_LOAD)
			size = e->segments[i].offset + e->segments[i].memory_size;
	elf_file_release(e);
	return elf_file_open_memory(e, at, (size + page - 1) / page * page);
}

void elf_file_release(struct elf_file *e)
{
	free(e->segments);
	free(e->sections);
	mapped_file_release(&e->map);
	*e = (struct elf_file){ .map.slot = -1 };
}

const char *elf_error_text(enum elf_error error)
{
	switch (error) {
	case ELF_OK: return "no error";
	case ELF_ERROR_IO: return "cannot be read";
	case ELF_ERROR_NOT_ELF: return "not an ELF file";
	case ELF_ERROR_UNSUPPORTED: return "not a 64-bit little-endian ELF file";
	case ELF_ERROR_CORRUPT: return "a damaged ELF file";
	case ELF_ERROR_MEMORY: return "out of memory";
	}
	return "unknown error";
}

const struct elf_section *elf_file_section(const struct elf_file *e, const char *name)
{
	for (size_t i = 1; i < e->section_count; i++)
		if (strcmp(e->sections[i].name, name) == 0)
			return &e->sections[i];
	return NULL;
}

struct cursor elf_section_data(const struct elf_file *e, const struct elf_section *section)
{
	if (!section || section->type == SHT_NOBITS || section->type == SHT_NULL)
		return cursor_over(NULL, 0);
	return part_of(e, section->offset, section->size);
}

struct cursor elf_file_at(const struct elf_file *e, uint64_t address)
{
	for (size_t i = 0; i < e->segment_count; i++) {
		const struct elf_segment *s = &e->segments[i];

		if (s->type == PT_LOAD && address >= s->address &&
		    address - s->address < s->file_size)
			return part_of(e, s->offset + (address - s->address),
				       s->file_size - (address - s->address));
	}
	return (struct cursor){ .failed = true };
}

bool elf_file_offset_to_address(const struct elf_file *e, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < e->segment_count; i++) {
		const struct elf_segment *s = &e->segments[i];

		if (s->type == PT_LOAD && offset >= s->offset &&
		    offset - s->offset < s->file_size) {
			*address = s->address + (offset - s->offset);
			return true;
		}
	}
	return false;
}

bool elf_file_address_to_offset(const struct elf_file *e, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < e->segment_count; i++) {
		const struct elf_segment *s = &e->segments[i];

		if (s->type == PT_LOAD && address >= s->address &&
		    address - s->address < s->file_size) {
			*offset = s->offset + (address - s->address);
			return true;
		}
	}
	return false;
}
