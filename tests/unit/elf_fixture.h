/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_ELF_FIXTURE_H
#define TESTS_UNIT_ELF_FIXTURE_H

/* ELF files made of sections, or laid out as a struct. */

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "common/buffer.h"

struct fixture_section {
	const char *name;
	uint64_t flags;
	const void *data; /* NULL: a hole, at the end of the file */
	uint64_t size;
	uint32_t type; /* 0: SHT_PROGBITS */
};

static inline Elf64_Ehdr fixture_elf_header(uint16_t type)
{
	return (Elf64_Ehdr){ .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					  ELFDATA2LSB, EV_CURRENT },
			     .e_type = type,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_ehsize = sizeof(Elf64_Ehdr),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_shentsize = sizeof(Elf64_Shdr) };
}

/*
 * Of a file that is laid out as a struct whose members are header, segment, sections, symbols,
 * names and section_names. It is loaded whole at address 0, so that addresses are offsets in it.
 */
#define FIXTURE_SECTION(layout, name_at, kind, member, linked)                                     \
	{                                                                                          \
		.sh_name = name_at, .sh_type = kind, .sh_addr = offsetof(layout, member),          \
		.sh_offset = offsetof(layout, member), .sh_size = sizeof(((layout *)0)->member),   \
		.sh_link = linked                                                                  \
	}

#define FIXTURE_HEADERS(layout, text)                                                              \
	.header = fixture_layout_header(offsetof(layout, segment), offsetof(layout, sections),     \
					sizeof(((layout *)0)->sections) / sizeof(Elf64_Shdr)),     \
	.segment = { .p_type = PT_LOAD,                                                            \
		     .p_flags = PF_R | PF_X,                                                       \
		     .p_filesz = sizeof(layout),                                                   \
		     .p_memsz = sizeof(layout),                                                    \
		     .p_align = 4096 },                                                            \
	.section_names = "\0.dynsym\0.dynstr\0.shstrtab" text

/* The first sections, whose names those are. */
#define FIXTURE_SECTIONS(layout)                                                                   \
	{ 0 }, FIXTURE_SECTION(layout, 1, SHT_DYNSYM, symbols, 2),                                 \
		FIXTURE_SECTION(layout, 9, SHT_STRTAB, names, 0),                                  \
		FIXTURE_SECTION(layout, 17, SHT_STRTAB, section_names, 0)

/* Sets a symbol and its name. */
#define FIXTURE_SYMBOL(file, number, text, place, size)                                            \
	do {                                                                                       \
		strcpy((file)->names[number], text);                                               \
		(file)->symbols[number] = fixture_symbol((number) * sizeof((file)->names[0]),      \
							 place, size);                             \
	} while (0)

static inline Elf64_Ehdr fixture_layout_header(size_t segment, size_t sections, size_t n)
{
	Elf64_Ehdr header = fixture_elf_header(ET_DYN);

	header.e_phoff = segment;
	header.e_phnum = 1;
	header.e_shoff = sections;
	header.e_shnum = (uint16_t)n;
	header.e_shstrndx = 3;
	return header;
}

static inline Elf64_Sym fixture_symbol(size_t name, size_t place, size_t size)
{
	return (Elf64_Sym){ .st_name = (Elf64_Word)name,
			    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
			    .st_shndx = 1,
			    .st_value = place,
			    .st_size = size };
}

/* Adds such a file to an empty buffer; up to 8 sections. */
static inline void fixture_elf(struct buffer *b, const struct fixture_section *list, size_t n)
{
	Elf64_Ehdr header = fixture_elf_header(ET_DYN);
	Elf64_Shdr sections[10] = { 0 }, *names = &sections[n + 1];
	char text[256] = "";
	size_t length = 1;

	header.e_shnum = (uint16_t)(n + 2);
	header.e_shstrndx = (uint16_t)(n + 1);
	buffer_append(b, &header, sizeof(header));
	for (size_t i = 0; i < n; i++) {
		Elf64_Shdr *s = &sections[i + 1];

		s->sh_name = (uint32_t)length;
		s->sh_type = list[i].type ? list[i].type : SHT_PROGBITS;
		s->sh_flags = list[i].flags;
		s->sh_size = list[i].size;
		s->sh_offset = list[i].data ? b->size : 1 << 20;
		if (list[i].data)
			buffer_append(b, list[i].data, list[i].size);
		length += strlen(strcpy(text + length, list[i].name)) + 1;
	}
	names->sh_type = SHT_STRTAB;
	names->sh_offset = b->size;
	names->sh_size = sizeof(text);
	buffer_append(b, text, sizeof(text));
	while (b->size % 8)
		buffer_append(b, "", 1);
	((Elf64_Ehdr *)b->data)->e_shoff = b->size;
	buffer_append(b, sections, (n + 2) * sizeof(*sections));
}

#endif
