/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_ELF_FIXTURE_H
#define TESTS_UNIT_ELF_FIXTURE_H

/* ELF files made of sections. */

#include <elf.h>
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
