/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/machine_code.h"
#include "tests/unit/elf_fixture.h"
#include "tests/unit/unit.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENTS 4
#define SEGMENT_BYTES (UINT64_C(64) << 20)

/* However many segments a file has, and however large: code is looked through up to a bound. */
static void test_segments_of_holes(void **state)
{
	/* A CIE whose addresses are absolute. */
	static const uint8_t frames[] = { 16, 0,    0, 0, 0,	0, 0, 0, 1, 0, 1, 0x78,
					  16, 0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0, 0, 0 };
	const struct fixture_section sections[] = { { ".eh_frame", SHF_ALLOC, frames,
						      sizeof(frames), SHT_PROGBITS } };
	int fd = memfd_create("segments", MFD_CLOEXEC);
	struct buffer b = { 0 };
	struct elf_file e;
	struct stat now;

	fixture_elf(&b, sections, 1);
	((Elf64_Ehdr *)b.data)->e_phoff = b.size;
	((Elf64_Ehdr *)b.data)->e_phnum = SEGMENTS;
	for (uint64_t i = 1; i <= SEGMENTS; i++)
		buffer_append(&b,
			      &(Elf64_Phdr){ .p_type = PT_LOAD,
					     .p_flags = PF_R | PF_X,
					     .p_offset = i * SEGMENT_BYTES,
					     .p_vaddr = i * SEGMENT_BYTES,
					     .p_filesz = SEGMENT_BYTES,
					     .p_memsz = SEGMENT_BYTES },
			      sizeof(Elf64_Phdr));
	assert_int_equal(write(fd, b.data, b.size), b.size);
	assert_int_equal(ftruncate(fd, (SEGMENTS + 1) * SEGMENT_BYTES), 0);
	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	assert_int_equal(machine_code_jumped_to(&e, "\x31\xff", 2, 1).start, 0);
	assert_int_equal(fstat(fd, &now), 0);
	/* Something was looked through. */
	assert_true((uint64_t)now.st_blocks * 512 > SEGMENT_BYTES / 2);
	assert_true((uint64_t)now.st_blocks * 512 < 2 * SEGMENT_BYTES);
	elf_file_release(&e);
	buffer_release(&b);
	close(fd);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_segments_of_holes),
};

UNIT_TESTS(tests);
