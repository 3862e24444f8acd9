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
#include "tests/unit/bomb.h"
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

/* How many units are found in a file with this section; -1: it counts as absent. */
static int units_in(const char *name, const void *info, uint64_t size, uint64_t flags)
{
	const struct fixture_section section = { name, flags, info, size };
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

static int units_of(const void *info, uint64_t size, uint64_t flags)
{
	return units_in(".debug_info", info, size, flags);
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

/* -------- bombs that are real -------- */

#define LITTLE_MEMORY (64 << 10) /* KiB: what a reader takes that does not unpack */

struct packed_section {
	const char *name;
	uint64_t flags, claim;
	uint32_t type;
	struct buffer packed;
};

/* Of the section with its header, in either form. */
static int units_of_packed(const struct packed_section *p)
{
	uint8_t old[12] = "ZLIB", *all;
	struct buffer b = { 0 };
	size_t size;
	int units;

	if (p->flags & SHF_COMPRESSED) {
		all = compressed(p->type, p->claim, p->packed.data, p->packed.size, &size);
		units = units_in(p->name, all, size, p->flags);
		free(all);
		return units;
	}
	for (int i = 0; i < 8; i++)
		old[4 + i] = (uint8_t)(p->claim >> (56 - 8 * i));
	buffer_append(&b, old, sizeof(old));
	buffer_append(&b, p->packed.data, p->packed.size);
	units = units_in(p->name, b.data, b.size, p->flags);
	buffer_release(&b);
	return units;
}

static bool counts_as_absent(void *context)
{
	return units_of_packed(context) < 0;
}

/* What it unpacks to, less, and more than can be: whatever it claims, it is not unpacked. */
static void check_bomb(struct packed_section *p, size_t times)
{
	const uint64_t claims[] = { (uint64_t)times * BOMB_CHUNK,
				    LIMIT_UNPACKED_BYTES + 1,
				    BOMB_CHUNK,
				    sizeof(unit),
				    UINT64_C(1) << 62,
				    UINT64_MAX };

	assert_true((uint64_t)times * BOMB_CHUNK > LIMIT_UNPACKED_BYTES);
	assert_true(p->packed.size < (times * BOMB_CHUNK) / 500);
	for (size_t i = 0; i < sizeof(claims) / sizeof(*claims); i++) {
		p->claim = claims[i];
		assert_true(bomb_memory_more(counts_as_absent, p) < LITTLE_MEMORY);
	}
}

/* ... but a section of the same kind is, where it is not too large and claims what is so. */
static void check_no_bomb(struct packed_section *p)
{
	uint8_t *plain = malloc(2 * BOMB_CHUNK);

	for (size_t i = 0; i < 2 * BOMB_CHUNK; i += sizeof(unit))
		memcpy(plain + i, unit, sizeof(unit));
	p->claim = 2 * BOMB_CHUNK;
	assert_true(units_of_packed(p) > 1000);
	assert_int_equal(units_of_packed(p), units_of(plain, 2 * BOMB_CHUNK, 0));
	free(plain);
	p->claim = BOMB_CHUNK;
	assert_int_equal(units_of_packed(p), -1);
	p->claim = 2 * BOMB_CHUNK + 1;
	assert_int_equal(units_of_packed(p), -1);
	buffer_clear(&p->packed);
}

static void test_bombs_of_zlib(void **state)
{
	struct packed_section kinds[] = {
		{ ".debug_info", SHF_COMPRESSED, .type = ELFCOMPRESS_ZLIB },
		{ ".zdebug_info", 0 },
	};

	for (size_t i = 0; i < 2; i++) {
		bomb_zlib(&kinds[i].packed, unit, sizeof(unit), 2);
		check_no_bomb(&kinds[i]);
		bomb_zlib(&kinds[i].packed, unit, sizeof(unit), BOMB_TIMES);
		check_bomb(&kinds[i], BOMB_TIMES);
		buffer_release(&kinds[i].packed);
	}
}

/* zstd packs more densely: without what pads it, already its claim is too large for its bytes. */
static void test_bombs_of_zstd(void **state)
{
	const uint32_t padding = BOMB_TIMES * (BOMB_CHUNK / 1000);
	struct packed_section p = { ".debug_info", SHF_COMPRESSED, .type = 2 };

	bomb_zstd(&p.packed, unit, sizeof(unit), 2, 2 * (BOMB_CHUNK / 1000));
	check_no_bomb(&p);
	bomb_zstd(&p.packed, unit, sizeof(unit), BOMB_TIMES, padding);
	check_bomb(&p, BOMB_TIMES);
	buffer_clear(&p.packed);
	bomb_zstd(&p.packed, unit, sizeof(unit), BOMB_TIMES, 0);
	check_bomb(&p, BOMB_TIMES);
	buffer_release(&p.packed);
}

/* -------- .gnu_debugdata, which claims nothing -------- */

static uint8_t *mini_of(const struct buffer *packed, size_t *size)
{
	const struct fixture_section section = { ".gnu_debugdata", 0, packed->data, packed->size };
	struct buffer b = { 0 };
	struct elf_file e;
	uint8_t *mini;

	fixture_elf(&b, &section, 1);
	assert_int_equal(elf_file_open_memory(&e, b.data, b.size), ELF_OK);
	mini = debug_sections_mini(&e, size);
	elf_file_release(&e);
	buffer_release(&b);
	return mini;
}

static bool has_no_mini(void *packed)
{
	size_t size;

	return !mini_of(packed, &size);
}

static void test_bomb_of_xz(void **state)
{
	struct buffer packed = { 0 };
	uint8_t *mini;
	size_t size;

	bomb_xz(&packed, unit, sizeof(unit), 2);
	mini = mini_of(&packed, &size);
	assert_non_null(mini);
	assert_int_equal(size, 2 * BOMB_CHUNK);
	assert_memory_equal(mini + size - sizeof(unit), unit, sizeof(unit));
	free(mini);
	buffer_clear(&packed);
	bomb_xz(&packed, unit, sizeof(unit), BOMB_TIMES);
	assert_true(packed.size < 1 << 20);
	assert_true(bomb_memory_more(has_no_mini, &packed) < (long)(4 * (LIMIT_MINI_BYTES >> 10)));
	buffer_release(&packed);
}

/* A block of a few bytes whose header asks for a dictionary: 4 GiB - 1. */
static void test_dictionary_of_xz(void **state)
{
	struct buffer packed = { 0 };
	uint8_t *header, *mini;
	uint32_t length, sum;
	size_t size;

	bomb_xz(&packed, unit, sizeof(unit), 1);
	header = packed.data + LZMA_STREAM_HEADER_SIZE;
	length = (header[0] + 1u) * 4;
	/* After the sizes of the block: the filter, how long its options are, and the dictionary.
	 */
	for (mini = header + 2; memcmp(mini, "\x21\x01", 2); mini++)
		assert_true(mini < header + length);
	mini[2] = 40;
	sum = lzma_crc32(header, length - 4, 0);
	memcpy(header + length - 4, &sum, sizeof(sum));
	assert_true(bomb_memory_more(has_no_mini, &packed) < LITTLE_MEMORY);
	/* It is for its dictionary alone. */
	mini[2] = 16;
	sum = lzma_crc32(header, length - 4, 0);
	memcpy(header + length - 4, &sum, sizeof(sum));
	mini = mini_of(&packed, &size);
	assert_non_null(mini);
	assert_int_equal(size, BOMB_CHUNK);
	free(mini);
	buffer_release(&packed);
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
	cmocka_unit_test(test_compressed),    cmocka_unit_test(test_bomb),
	cmocka_unit_test(test_bombs_of_zlib), cmocka_unit_test(test_bombs_of_zstd),
	cmocka_unit_test(test_bomb_of_xz),    cmocka_unit_test(test_dictionary_of_xz),
	cmocka_unit_test(test_hole),	      cmocka_unit_test(test_libelf_writes),
};

UNIT_TESTS(tests);
