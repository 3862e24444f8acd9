/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/dwarf/debug_sections.h"
#include "tests/unit/unit.h"

#include <libelf.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "common/limits.h"
#include "tests/unit/elf_fixture.h"

/* A DWARF 4 unit of one DIE that is not in the abbreviations: enough to be listed. */
static const uint8_t unit[] = { 8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 0 };

/* A compressed section: what it claims to unpack to, and `n` bytes. */
static uint8_t *compressed(uint32_t type, uint64_t claim, const void *bytes, size_t n, size_t *size)
{
	const Elf64_Chdr header = { .ch_type = type, .ch_size = claim, .ch_addralign = 1 };
	uint8_t *all = calloc(1, sizeof(header) + n);

	memcpy(all, &header, sizeof(header));
	if (bytes)
		memcpy(all + sizeof(header), bytes, n);
	*size = sizeof(header) + n;
	return all;
}

/* How many units are found in a file with this .debug_info; -1: it counts as absent. */
static int units_of(const void *info, uint64_t size, uint64_t flags)
{
	const struct fixture_section section = { ".debug_info", flags, info, size };
	struct debug_sections s;
	struct buffer b = { 0 };
	struct elf_file e;
	int result = -1;

	fixture_elf(&b, &section, 1);
	assert_int_equal(elf_file_open_memory(&e, b.data, b.size), ELF_OK);
	if (!debug_sections_load(&s, &e, &e, false)) {
		result = (int)s.dwarf.unit_count;
		debug_sections_release(&s);
	}
	elf_file_release(&e);
	buffer_release(&b);
	return result;
}

static void test_compressed(void **state)
{
	uint8_t packed[64], *section;
	uLongf length = sizeof(packed);
	size_t size;

	assert_int_equal(units_of(unit, sizeof(unit), 0), 1);
	assert_int_equal(compress(packed, &length, unit, sizeof(unit)), Z_OK);
	section = compressed(ELFCOMPRESS_ZLIB, sizeof(unit), packed, length, &size);
	assert_int_equal(units_of(section, size, SHF_COMPRESSED), 1);
	free(section);
	/* It claims another size than it has. */
	section = compressed(ELFCOMPRESS_ZLIB, sizeof(unit) + 1, packed, length, &size);
	assert_int_equal(units_of(section, size, SHF_COMPRESSED), -1);
	free(section);
	/* More than such bytes can unpack to. */
	section = compressed(ELFCOMPRESS_ZLIB, UINT64_C(1) << 40, packed, length, &size);
	assert_int_equal(units_of(section, size, SHF_COMPRESSED), -1);
	free(section);
}

/* A megabyte of packed zeros may well unpack to more than is wanted. */
static void test_bomb(void **state)
{
	const size_t packed = LIMIT_UNPACKED_BYTES / 1000;
	size_t size;
	uint8_t *section = compressed(ELFCOMPRESS_ZLIB, LIMIT_UNPACKED_BYTES + 1, NULL, packed,
				      &size);

	assert_int_equal(units_of(section, size, SHF_COMPRESSED), -1);
	free(section);
}

static void test_hole(void **state)
{
	const struct fixture_section sections[] = {
		{ ".debug_info", 0, NULL, LIMIT_DEBUG_BYTES + 1 },
		{ ".gnu_debugdata", 0, NULL, UINT64_C(1) << 40 },
	};
	int fd = memfd_create("hole", MFD_CLOEXEC);
	struct debug_sections s;
	struct buffer b = { 0 };
	struct elf_file e;
	size_t size;

	fixture_elf(&b, sections, 2);
	assert_int_equal(ftruncate(fd, UINT64_C(2) << 40), 0);
	assert_int_equal(pwrite(fd, b.data, b.size, 0), (ssize_t)b.size);
	assert_int_equal(elf_file_open(&e, fd), ELF_OK);
	assert_true(debug_sections_present(&e, false));
	assert_int_equal(debug_sections_load(&s, &e, &e, false), -1);
	assert_null(debug_sections_mini(&e, &size));
	elf_file_release(&e);
	buffer_release(&b);
	close(fd);
}

/*
 * Why libelf does not unpack: it changes the section's header in the file's own bytes, which
 * would have to be writable (and libdw has it unpack all sections, needed or not).
 */
static void test_libelf_writes(void **state)
{
	uint8_t packed[64], *section;
	uLongf length = sizeof(packed);
	struct buffer b = { 0 };
	size_t size;
	int status;
	pid_t pid;

	assert_int_equal(compress(packed, &length, unit, sizeof(unit)), Z_OK);
	section = compressed(ELFCOMPRESS_ZLIB, sizeof(unit), packed, length, &size);
	fixture_elf(&b, &(struct fixture_section){ ".debug_info", SHF_COMPRESSED, section, size },
		    1);
	pid = fork();
	if (!pid) {
		uint8_t *image = mmap(NULL, b.size, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		Elf *elf;

		signal(SIGSEGV, SIG_DFL);
		memcpy(image, b.data, b.size);
		mprotect(image, b.size, PROT_READ);
		elf_version(EV_CURRENT);
		elf = elf_memory((char *)image, b.size);
		elf_compress(elf_getscn(elf, 1), 0, 0);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(WIFEXITED(status) && !WEXITSTATUS(status));
	buffer_release(&b);
	free(section);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_compressed),
	cmocka_unit_test(test_bomb),
	cmocka_unit_test(test_hole),
	cmocka_unit_test(test_libelf_writes),
};

UNIT_TESTS(tests);
