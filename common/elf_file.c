/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "common/limits.h"

#define SECTION_NAME_MAX 256

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

/* -------- before libelf -------- */

static enum elf_error check_identity(const struct elf_file *e)
{
	if (e->size < EI_NIDENT || memcmp(e->data, ELFMAG, SELFMAG) != 0)
		return ELF_ERROR_NOT_ELF;
	if (e->data[EI_CLASS] != ELFCLASS64 || e->data[EI_DATA] != ELFDATA2LSB)
		return ELF_ERROR_UNSUPPORTED;
	return e->size < sizeof(Elf64_Ehdr) ? ELF_ERROR_CORRUPT : ELF_OK;
}

/* The ELF header and both tables, one after the other, as an ELF file without contents. */
struct headers {
	uint8_t *image;
	size_t size;
	size_t segment_count, section_count;
};

/*
 * How many headers there are. Counts that do not fit into the ELF header are in the first section
 * header.
 */
static int count_headers(const struct elf_file *e, const Elf64_Ehdr *h, struct headers *headers)
{
	uint64_t sections, segments;
	Elf64_Shdr first = { 0 };

	if (h->e_shoff && range_fits(h->e_shoff, sizeof(first), e->size))
		memcpy(&first, e->data + h->e_shoff, sizeof(first));
	sections = h->e_shnum ? h->e_shnum : first.sh_size;
	segments = h->e_phnum == PN_XNUM ? first.sh_info : h->e_phnum;
	if (segments && (h->e_phentsize != sizeof(Elf64_Phdr) ||
			 !range_fits(h->e_phoff, segments * sizeof(Elf64_Phdr), e->size)))
		return ELF_ERROR_CORRUPT;
	if (segments > LIMIT_SEGMENTS || sections > LIMIT_SECTIONS)
		return ELF_ERROR_LIMIT;
	headers->segment_count = segments;
	/* A section table that is missing or cut off is normal (sstrip, memory images). */
	if (h->e_shoff && h->e_shentsize == sizeof(Elf64_Shdr) &&
	    range_fits(h->e_shoff, sections * sizeof(Elf64_Shdr), e->size))
		headers->section_count = sections;
	return ELF_OK;
}

/*
 * libelf takes memory for each section that a file claims to have, and it reads fields of the
 * headers again after it has checked them, while the owner of the file may be writing to it. So
 * it gets a copy, which has no more sections than are to be read and does not change.
 */
static enum elf_error copy_headers(const struct elf_file *e, struct headers *headers)
{
	uint64_t segments_at, sections_at;
	size_t segment_bytes, section_bytes;
	Elf64_Ehdr h;
	enum elf_error error;

	memcpy(&h, e->data, sizeof(h));
	error = count_headers(e, &h, headers);
	if (error)
		return error;
	segments_at = h.e_phoff;
	sections_at = h.e_shoff;
	segment_bytes = headers->segment_count * sizeof(Elf64_Phdr);
	section_bytes = headers->section_count * sizeof(Elf64_Shdr);
	headers->size = sizeof(h) + segment_bytes + section_bytes;
	headers->image = malloc(headers->size);
	if (!headers->image)
		return ELF_ERROR_MEMORY;
	h.e_phoff = sizeof(h);
	h.e_shoff = headers->section_count ? sizeof(h) + segment_bytes : 0;
	memcpy(headers->image, &h, sizeof(h));
	if (segment_bytes)
		memcpy(headers->image + h.e_phoff, e->data + segments_at, segment_bytes);
	if (section_bytes)
		memcpy(headers->image + h.e_shoff, e->data + sections_at, section_bytes);
	return ELF_OK;
}

/* -------- with libelf -------- */

static void read_segment(struct elf_file *e, Elf *elf, size_t i)
{
	struct elf_segment *s = &e->segments[i];
	GElf_Phdr h;

	if (!gelf_getphdr(elf, (int)i, &h))
		return; /* a PT_NULL segment without bytes */
	*s = (struct elf_segment){ .type = h.p_type,
				   .flags = h.p_flags,
				   .offset = h.p_offset,
				   .address = h.p_vaddr,
				   .file_size = h.p_filesz,
				   .memory_size = h.p_memsz };
	if (!range_fits(s->offset, s->file_size, e->size))
		s->file_size = 0;
	if (s->type == PT_LOAD && s->file_size)
		e->loads[e->load_count++] = s;
}

static int by_address(const void *left, const void *right)
{
	const struct elf_segment *a = *(struct elf_segment *const *)left;
	const struct elf_segment *b = *(struct elf_segment *const *)right;

	return (a->address > b->address) - (a->address < b->address);
}

/* Of those at one offset the first in the table is found. */
static int by_offset(const void *left, const void *right)
{
	const struct elf_segment *a = *(struct elf_segment *const *)left;
	const struct elf_segment *b = *(struct elf_segment *const *)right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a < b) - (a > b);
}

static enum elf_error read_segments(struct elf_file *e, Elf *elf, size_t count)
{
	if (!count)
		return ELF_OK;
	e->segments = calloc(count, sizeof(*e->segments));
	e->loads = calloc(count, sizeof(*e->loads));
	e->loads_by_offset = calloc(count, sizeof(*e->loads_by_offset));
	if (!e->segments || !e->loads || !e->loads_by_offset)
		return ELF_ERROR_MEMORY;
	e->segment_count = count;
	for (size_t i = 0; i < e->segment_count; i++)
		read_segment(e, elf, i);
	memcpy(e->loads_by_offset, e->loads, e->load_count * sizeof(*e->loads));
	qsort(e->loads, e->load_count, sizeof(*e->loads), by_address);
	qsort(e->loads_by_offset, e->load_count, sizeof(*e->loads), by_offset);
	return ELF_OK;
}

/*
 * The name at an offset of the section names. Not by elf_strptr(), which goes through the whole
 * table for each name: the table may be as long as the file, and have 100,000 names.
 */
static const char *section_name(struct cursor table, uint64_t offset)
{
	const char *name;

	cursor_seek(&table, offset);
	name = cursor_short_string(&table, SECTION_NAME_MAX);
	return name ? name : "";
}

static void read_section(struct elf_file *e, Elf *elf, size_t i, uint32_t *name)
{
	struct elf_section *s = &e->sections[i];
	GElf_Shdr h;

	s->name = "";
	if (!gelf_getshdr(elf_getscn(elf, i), &h))
		return; /* an SHT_NULL section */
	*name = h.sh_name;
	s->type = h.sh_type;
	s->flags = h.sh_flags;
	s->address = h.sh_addr;
	s->offset = h.sh_offset;
	s->size = h.sh_size;
	s->link = h.sh_link;
	s->info = h.sh_info;
	s->entry_size = h.sh_entsize;
	if (s->type != SHT_NOBITS && !range_fits(s->offset, s->size, e->size))
		s->size = 0;
}

static enum elf_error read_sections(struct elf_file *e, Elf *elf, size_t count)
{
	uint32_t *offsets;
	size_t names = 0;

	if (!count)
		return ELF_OK;
	e->sections = calloc(count, sizeof(*e->sections));
	offsets = calloc(count, sizeof(*offsets));
	if (!e->sections || !offsets) {
		free(offsets);
		return ELF_ERROR_MEMORY;
	}
	e->section_count = count;
	for (size_t i = 0; i < e->section_count; i++)
		read_section(e, elf, i, &offsets[i]);
	if (!elf_getshdrstrndx(elf, &names) && names < e->section_count) {
		struct cursor table = elf_section_data(e, &e->sections[names]);

		for (size_t i = 0; i < e->section_count; i++)
			e->sections[i].name = section_name(table, offsets[i]);
	}
	free(offsets);
	return ELF_OK;
}

static void announce_version(void)
{
	elf_version(EV_CURRENT);
}

static enum elf_error read_headers(struct elf_file *e, const struct headers *headers)
{
	static pthread_once_t announced = PTHREAD_ONCE_INIT;
	enum elf_error error = ELF_ERROR_CORRUPT;
	GElf_Ehdr h;
	Elf *elf;

	pthread_once(&announced, announce_version);
	errno = 0;
	elf = elf_memory((char *)headers->image, headers->size);
	if (!elf)
		return errno == ENOMEM ? ELF_ERROR_MEMORY : ELF_ERROR_CORRUPT;
	if (gelf_getehdr(elf, &h)) {
		e->type = h.e_type;
		e->machine = h.e_machine;
		e->entry = h.e_entry;
		error = read_segments(e, elf, headers->segment_count);
	}
	if (!error)
		error = read_sections(e, elf, headers->section_count);
	/* For libelf a header that it has no memory for is one that is not there. */
	if (!error && errno == ENOMEM)
		error = ELF_ERROR_MEMORY;
	elf_end(elf);
	return error;
}

/* -------- build-id -------- */

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

/* `budget`: the bytes of notes that are still read in this file. */
static void try_notes(struct elf_file *e, struct cursor notes, uint64_t *budget)
{
	if (e->build_id_size)
		return;
	if (cursor_left(&notes) > *budget)
		notes.end = notes.at + *budget;
	*budget -= cursor_left(&notes);
	e->build_id_size = (uint8_t)elf_note_build_id(notes, 4, e->build_id);
}

static void find_build_id(struct elf_file *e)
{
	uint64_t budget = LIMIT_NOTE_BYTES;

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

static enum elf_error decode(struct elf_file *e)
{
	struct headers headers = { 0 };
	enum elf_error error = check_identity(e);

	if (!error)
		error = copy_headers(e, &headers);
	if (!error)
		error = read_headers(e, &headers);
	free(headers.image);
	if (!error)
		find_build_id(e);
	return error;
}

enum elf_error elf_file_open_memory(struct elf_file *e, const void *data, size_t size)
{
	enum elf_error error;

	*e = (struct elf_file){ .data = data, .size = size, .map.slot = -1 };
	error = decode(e);
	if (error)
		elf_file_release(e);
	return error;
}

enum elf_error elf_file_open(struct elf_file *e, int fd)
{
	struct mapped_file map;
	enum elf_error error;

	*e = (struct elf_file){ .map.slot = -1 };
	if (mapped_file_open(&map, fd))
		return errno == ENOMEM ? ELF_ERROR_MEMORY : ELF_ERROR_IO;
	*e = (struct elf_file){ .data = map.data, .size = map.size, .map = map };
	error = decode(e);
	if (error)
		elf_file_release(e);
	return error;
}

enum elf_error elf_file_open_vdso(struct elf_file *e)
{
	const void *at = (const void *)getauxval(AT_SYSINFO_EHDR);
	uint64_t size = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
	enum elf_error error = at ? elf_file_open_memory(e, at, page) : ELF_ERROR_IO;

	if (error)
		return error;
	/* The program header says how long it is, but for the section table after it, which
	 * lies in its last page. */
	for (size_t i = 0; i < e->segment_count; i++)
		if (e->segments[i].type == PT_LOAD)
			size = e->segments[i].offset + e->segments[i].memory_size;
	elf_file_release(e);
	return elf_file_open_memory(e, at, (size + page - 1) / page * page);
}

void elf_file_release(struct elf_file *e)
{
	free(e->segments);
	free(e->loads);
	free(e->loads_by_offset);
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
	case ELF_ERROR_LIMIT: return "an ELF file with more headers than are read";
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

static uint64_t start_of(const struct elf_segment *s, bool by_offset)
{
	return by_offset ? s->offset : s->address;
}

/* The segment that has the byte at that offset of the file, or loaded at that address; NULL: none.
 */
static const struct elf_segment *load_with(const struct elf_file *e, uint64_t at, bool by_offset)
{
	struct elf_segment *const *loads = by_offset ? e->loads_by_offset : e->loads;
	size_t low = 0, high = e->load_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (start_of(loads[middle], by_offset) <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || at - start_of(loads[low - 1], by_offset) >= loads[low - 1]->file_size)
		return NULL;
	return loads[low - 1];
}

struct cursor elf_file_at(const struct elf_file *e, uint64_t address)
{
	const struct elf_segment *s = load_with(e, address, false);

	if (!s)
		return (struct cursor){ .failed = true };
	return part_of(e, s->offset + (address - s->address),
		       s->file_size - (address - s->address));
}

bool elf_file_relocation(const struct elf_file *e, uint64_t address, uint32_t kind,
			 uint64_t *addend)
{
	struct cursor c = elf_section_data(e, elf_file_section(e, ".rela.dyn"));

	for (size_t i = 0; i < LIMIT_SYMBOLS && cursor_left(&c) >= sizeof(Elf64_Rela); i++) {
		uint64_t place = cursor_u64(&c), info = cursor_u64(&c), value = cursor_u64(&c);

		if (place != address || (kind && ELF64_R_TYPE(info) != kind))
			continue;
		*addend = value;
		return true;
	}
	return false;
}

bool elf_file_offset_to_address(const struct elf_file *e, uint64_t offset, uint64_t *address)
{
	const struct elf_segment *s = load_with(e, offset, true);

	if (s)
		*address = s->address + (offset - s->offset);
	return s != NULL;
}

bool elf_file_address_to_offset(const struct elf_file *e, uint64_t address, uint64_t *offset)
{
	const struct elf_segment *s = load_with(e, address, false);

	if (s)
		*offset = s->offset + (address - s->address);
	return s != NULL;
}
