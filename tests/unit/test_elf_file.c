/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buffer.h"

/* A file with one PT_LOAD, one PT_NOTE and the sections null, .text, .shstrtab. */
static void build_file(struct buffer *b)
{
	static const char names[] = "\0.text\0.shstrtab";
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = 0x1100,
		.e_phoff = 64,
		.e_shoff = 0x300,
		.e_ehsize = 64,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	Elf64_Phdr segments[2] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_offset = 0x100,
		  .p_vaddr = 0x1100,
		  .p_filesz = 0x100,
		  .p_memsz = 0x200 },
		{ .p_type = PT_NOTE, .p_offset = 0x200, .p_filesz = 36 },
	};
	Elf64_Shdr sections[3] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_addr = 0x1100,
		  .sh_offset = 0x100,
		  .sh_size = 0x100,
		  .sh_flags = SHF_ALLOC | SHF_EXECINSTR },
		{ .sh_name = 7,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = 0x280,
		  .sh_size = sizeof(names) },
	};
	uint8_t id[20] = { 0xab, 0xcd };
	uint32_t note[3] = { 4, sizeof(id), NT_GNU_BUILD_ID };
	uint8_t *at = buffer_extend(b, 0x300 + sizeof(sections));

	memset(at, 0, b->size);
	memcpy(at, &header, sizeof(header));
	memcpy(at + 64, segments, sizeof(segments));
	memcpy(at + 0x200, note, sizeof(note));
	memcpy(at + 0x20c, "GNU", 4);
	memcpy(at + 0x210, id, sizeof(id));
	memcpy(at + 0x280, names, sizeof(names));
	memcpy(at + 0x300, sections, sizeof(sections));
}

static void test_reads(void **state)
{
	struct buffer b = { 0 };
	struct elf_file e;
	const struct elf_section *text;
	uint64_t value;
	struct cursor c;

	build_file(&b);
	assert_int_equal(elf_file_open_memory(&e, b.data, b.size), ELF_OK);
	assert_int_equal(e.type, ET_DYN);
	assert_int_equal(e.machine, EM_X86_64);
	assert_int_equal(e.entry, 0x1100);
	assert_int_equal(e.build_id_size, 20);
	assert_int_equal(e.build_id[1], 0xcd);
	text = elf_file_section(&e, ".text");
	assert_non_null(text);
	c = elf_section_data(&e, text);
	assert_int_equal(cursor_left(&c), 0x100);
	assert_null(elf_file_section(&e, ".data"));
	c = elf_section_data(&e, NULL);
	assert_int_equal(cursor_left(&c), 0);
	assert_true(elf_file_offset_to_address(&e, 0x110, &value));
	assert_int_equal(value, 0x1110);
	assert_true(elf_file_address_to_offset(&e, 0x11ff, &value));
	assert_int_equal(value, 0x1ff);
	assert_false(elf_file_address_to_offset(&e, 0x1200, &value));
	c = elf_file_at(&e, 0x1180);
	assert_int_equal(cursor_left(&c), 0x80);
	c = elf_file_at(&e, 0x5000);
	assert_false(cursor_ok(&c));
	elf_file_release(&e);
	buffer_release(&b);
}

static int open_with(struct buffer *b, size_t at, uint64_t value, size_t size, struct elf_file *e)
{
	buffer_clear(b);
	build_file(b);
	memcpy(b->data + at, &value, size);
	return elf_file_open_memory(e, b->data, b->size);
}

static void test_wrong_headers(void **state)
{
	struct buffer b = { 0 };
	struct elf_file e;

	assert_int_equal(open_with(&b, 0, 0, 4, &e), ELF_ERROR_NOT_ELF);
	assert_int_equal(open_with(&b, EI_CLASS, ELFCLASS32, 1, &e), ELF_ERROR_UNSUPPORTED);
	assert_int_equal(open_with(&b, EI_DATA, ELFDATA2MSB, 1, &e), ELF_ERROR_UNSUPPORTED);
	assert_int_equal(elf_file_open_memory(&e, b.data, 40), ELF_ERROR_UNSUPPORTED);
	assert_int_equal(elf_file_open_memory(&e, "", 0), ELF_ERROR_NOT_ELF);
	/* program headers beyond the end */
	assert_int_equal(open_with(&b, offsetof(Elf64_Ehdr, e_phoff), UINT64_MAX, 8, &e),
			 ELF_ERROR_CORRUPT);
	assert_int_equal(open_with(&b, offsetof(Elf64_Ehdr, e_phnum), 60000, 2, &e),
			 ELF_ERROR_CORRUPT);
	buffer_release(&b);
}

static void test_section_table_may_be_missing(void **state)
{
	struct buffer b = { 0 };
	struct elf_file e;

	assert_int_equal(open_with(&b, offsetof(Elf64_Ehdr, e_shoff), 0x10000, 8, &e), ELF_OK);
	assert_int_equal(e.section_count, 0);
	assert_int_equal(e.build_id_size, 20);
	elf_file_release(&e);
	/* a section beyond the end has no bytes */
	assert_int_equal(
		open_with(&b, 0x300 + 64 + offsetof(Elf64_Shdr, sh_size), UINT64_MAX, 8, &e),
		ELF_OK);
	assert_int_equal(e.sections[1].size, 0);
	elf_file_release(&e);
	/* so has a segment */
	assert_int_equal(open_with(&b, 64 + offsetof(Elf64_Phdr, p_filesz), UINT64_MAX, 8, &e),
			 ELF_OK);
	assert_int_equal(e.segments[0].file_size, 0);
	elf_file_release(&e);
	/* names without an end stay empty */
	assert_int_equal(open_with(&b, 0x300 + 128 + offsetof(Elf64_Shdr, sh_size), 3, 8, &e),
			 ELF_OK);
	assert_string_equal(e.sections[1].name, "");
	elf_file_release(&e);
	buffer_release(&b);
}

static void test_own_binary(void **state)
{
	struct elf_file e;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	close(fd);
	assert_non_null(elf_file_section(&e, ".text"));
	assert_non_null(elf_file_section(&e, ".eh_frame"));
	elf_file_release(&e);
}

/* A file that is cut short under the reader reads as zeros from there. */
static void test_file_cut_short(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = memfd_create("cut", MFD_CLOEXEC);
	struct mapped_file f;
	char byte = 7;

	assert_int_equal(ftruncate(fd, page * 4), 0);
	assert_int_equal(pwrite(fd, &byte, 1, 0), 1);
	assert_int_equal(pwrite(fd, &byte, 1, page * 3), 1);
	assert_int_equal(mapped_file_open(&f, fd), 0);
	assert_int_equal(ftruncate(fd, page), 0);
	assert_int_equal(f.data[0], 7);
	assert_int_equal(((volatile const uint8_t *)f.data)[page * 3], 0);
	mapped_file_release(&f);
	close(fd);
}

static void test_not_a_regular_file(void **state)
{
	struct elf_file e;
	int fd = open("/", O_RDONLY | O_CLOEXEC);

	assert_int_equal(elf_file_open(&e, fd), ELF_ERROR_IO);
	assert_int_equal(elf_file_open(&e, -1), ELF_ERROR_IO);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_wrong_headers),
		cmocka_unit_test(test_section_table_may_be_missing),
		cmocka_unit_test(test_own_binary),
		cmocka_unit_test(test_file_cut_short),
		cmocka_unit_test(test_not_a_regular_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
