/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A .debug_frame that is packed, and such that would unpack to gigabytes. */
#include "record/unwind/unwind_table.h"
#include "tests/unit/bomb.h"
#include "tests/unit/elf_fixture.h"
#include "tests/unit/unit.h"

#include <dwarf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/limits.h"
#include "record/unwind/unwind_arch.h"

#define RETURN_COLUMN (ARCH_MACHINE == EM_X86_64 ? 16 : 30)
#define FRAME_AT 0x1000
#define FRAME_OFFSET 0x1230 /* which no analysis of such code would find */

/* A CIE and an FDE of it, 48 bytes. All FDEs of a section of many are of the first CIE. */
static void write_frame(uint8_t to[48])
{
	const uint8_t cie[16] = { 12,	0, 0, 0, 0xff, 0xff,	      0xff,
				  0xff, 1, 0, 1, 0x78, RETURN_COLUMN, DW_CFA_nop };
	const uint32_t fde[2] = { 28, 0 };
	const uint64_t range[2] = { FRAME_AT, 0x20 };
	const uint8_t steps[6] = {
		DW_CFA_def_cfa, ARCH_REGISTER_SP, 0xb0, 0x24, DW_CFA_offset | RETURN_COLUMN, 1
	};

	memset(to, 0, 48);
	memcpy(to, cie, sizeof(cie));
	memcpy(to + 16, fde, sizeof(fde));
	memcpy(to + 24, range, sizeof(range));
	memcpy(to + 40, steps, sizeof(steps));
}

struct packed_frame {
	struct buffer packed;
	uint64_t claim;
	uint32_t kind;
};

/* Whether code of a file has its rows from this .debug_frame of its separate debug file. */
static bool has_rows_of(const struct packed_frame *p)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		uint8_t code[32];
	} file = {
		.header = fixture_elf_header(ET_DYN),
		.segment = { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_vaddr = FRAME_AT,
			     .p_offset = offsetof(typeof(file), code),
			     .p_filesz = sizeof(file.code),
			     .p_memsz = sizeof(file.code) },
	};
	const Elf64_Chdr packed = { .ch_type = p->kind, .ch_size = p->claim, .ch_addralign = 1 };
	struct buffer section = { 0 }, with = { 0 };
	struct elf_file e, debug;
	struct unwind_table t;
	bool has = false;

	file.header.e_machine = ARCH_MACHINE;
	file.header.e_phoff = offsetof(typeof(file), segment);
	file.header.e_phnum = 1;
	memset(file.code, 0x90, sizeof(file.code));
	buffer_append(&section, &packed, sizeof(packed));
	buffer_append(&section, p->packed.data, p->packed.size);
	fixture_elf(&with,
		    &(struct fixture_section){ ".debug_frame", SHF_COMPRESSED, section.data,
					       section.size },
		    1);
	assert_int_equal(elf_file_open_memory(&e, &file, sizeof(file)), ELF_OK);
	assert_int_equal(elf_file_open_memory(&debug, with.data, with.size), ELF_OK);
	unwind_table_build(
		&t, &(struct unwind_source){ .file = &e, .debug = &debug, .max_rows = SIZE_MAX });
	for (uint32_t i = 0; i < t.rules.count; i++)
		has |= t.rules.rules[i].cfa_offset == FRAME_OFFSET;
	unwind_table_release(&t);
	elf_file_release(&debug);
	elf_file_release(&e);
	buffer_release(&with);
	buffer_release(&section);
	return has;
}

static bool has_no_rows(void *packed)
{
	return !has_rows_of(packed);
}

static void test_packed_frames(void **state)
{
	const uint64_t whole = (uint64_t)BOMB_TIMES * BOMB_CHUNK;
	const uint64_t claims[] = { whole,	48, BOMB_CHUNK, LIMIT_UNPACKED_FRAME_BYTES + 1,
				    UINT64_MAX, 0 };
	struct packed_frame p = { .claim = BOMB_CHUNK, .kind = ELFCOMPRESS_ZLIB };
	uint8_t frame[48];

	write_frame(frame);
	bomb_zlib(&p.packed, frame, sizeof(frame), 1);
	assert_true(has_rows_of(&p));
	/* Another size than it has, and a kind that the recorder does not read. */
	p.claim--;
	assert_false(has_rows_of(&p));
	p.claim++;
	p.kind = 2;
	assert_false(has_rows_of(&p));
	p.kind = ELFCOMPRESS_ZLIB;
	buffer_clear(&p.packed);
	bomb_zlib(&p.packed, frame, sizeof(frame), BOMB_TIMES);
	assert_true(p.packed.size < whole / 200);
	for (size_t i = 0; i < sizeof(claims) / sizeof(*claims); i++) {
		p.claim = claims[i];
		assert_true(bomb_memory_more(has_no_rows, &p) < (64 << 10));
	}
	buffer_release(&p.packed);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_packed_frames),
};

UNIT_TESTS(tests);
