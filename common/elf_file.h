/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_ELF_FILE_H
#define COMMON_ELF_FILE_H

/*
 * An ELF file that may be damaged, hostile, or written to while it is read. Opening reads the
 * header, the program headers and the section headers with libelf into arrays, each value
 * checked against the file's size; the contents are handed out as cursors (common/cursor.h),
 * never as structs laid over the file. ELF64 little-endian only. A file without a section
 * table is fine: `section_count` is 0. common/limits.h says how many headers are read.
 *
 * libelf gets a copy of the headers, and the contents come from common/mapped_file.h: a file that
 * is cut short raises SIGBUS in libelf's own mapping, and without one libelf reads what a section
 * claims to have into memory, terabytes of holes included.
 *
 * Layout: elf(5), the generic ABI (gABI) chapters "ELF Header", "Sections", "Program Header".
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cursor.h"
#include "common/mapped_file.h"

/*
 * Why a file is not opened: a kind and no text, for nearly all who ask go on without the file, and
 * a recorder opens thousands.
 */
enum elf_error {
	ELF_OK = 0,
	ELF_ERROR_IO = -1, /* errno has it */
	ELF_ERROR_NOT_ELF = -2,
	ELF_ERROR_UNSUPPORTED = -3, /* 32 bit, or big-endian */
	ELF_ERROR_CORRUPT = -4,	    /* a header points outside of the file */
	ELF_ERROR_MEMORY = -5,
	ELF_ERROR_LIMIT = -6, /* more headers than are read: common/limits.h */
};

/* Segments and sections whose contents do not lie in the file have file_size resp. size 0. */
struct elf_segment {
	uint32_t type, flags; /* PT_*, PF_* of <elf.h> */
	uint64_t offset, address, file_size, memory_size;
};

struct elf_section {
	const char *name; /* "" when it has none; in the file */
	uint32_t type;	  /* SHT_* */
	uint32_t link, info;
	uint64_t flags; /* SHF_* */
	uint64_t address, offset, size, entry_size;
};

#define ELF_BUILD_ID_MAX 20

struct elf_file {
	const uint8_t *data;
	size_t size;
	struct mapped_file map; /* when opened from an fd */
	uint16_t type, machine; /* ET_*, EM_* */
	uint64_t entry;
	struct elf_segment *segments;
	size_t segment_count;
	/* Those of PT_LOAD that have bytes, by address and by offset. */
	struct elf_segment **loads, **loads_by_offset;
	size_t load_count;
	struct elf_section *sections; /* sections[0] is the null section */
	size_t section_count;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	uint8_t build_id_size; /* 0: none */
};

/*
 * ELF_OK, or why not. The fd may be closed afterwards; memory must stay.
 * On failure nothing needs to be released.
 */
enum elf_error elf_file_open(struct elf_file *e, int fd);
enum elf_error elf_file_open_memory(struct elf_file *e, const void *data, size_t size);
/* Our own vDSO, which is that of every 64-bit process of this kernel. */
enum elf_error elf_file_open_vdso(struct elf_file *e);
void elf_file_release(struct elf_file *e);

/* "not an ELF file", ... */
const char *elf_error_text(enum elf_error error);

/* The first section of that name, or NULL. */
const struct elf_section *elf_file_section(const struct elf_file *e, const char *name);

/*
 * The section's bytes in the file; empty for SHT_NOBITS and for NULL. Sections with
 * SHF_COMPRESSED are handed out as they are, with their compression header.
 */
struct cursor elf_section_data(const struct elf_file *e, const struct elf_section *section);

/* The bytes that are loaded at `address`, up to the end of their segment; failed when there are
 * none. */
struct cursor elf_file_at(const struct elf_file *e, uint64_t address);

/*
 * The addend of the dynamic linker's relocation of that address: of that kind (R_* of <elf.h>), or
 * of any for 0, which is R_*_NONE. Looks at each, LIMIT_SYMBOLS at most. False: there is none.
 */
bool elf_file_relocation(const struct elf_file *e, uint64_t address, uint32_t kind,
			 uint64_t *addend);

/*
 * Between file offsets and link-time addresses, by the PT_LOAD segments; of those that overlap, by
 * the one that begins last. False: nothing there.
 */
bool elf_file_offset_to_address(const struct elf_file *e, uint64_t offset, uint64_t *address);
bool elf_file_address_to_offset(const struct elf_file *e, uint64_t address, uint64_t *offset);

/*
 * The build-id of a note section or segment (GNU, NT_GNU_BUILD_ID): its size, 0 when there is
 * none. Longer ones are cut to ELF_BUILD_ID_MAX, as the kernel does.
 */
size_t elf_note_build_id(struct cursor notes, uint64_t align, uint8_t build_id[ELF_BUILD_ID_MAX]);

#endif
