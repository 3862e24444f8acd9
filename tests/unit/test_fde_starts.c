/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbols/symbol_table.h"
#include "tests/unit/elf_fixture.h"
#include "tests/unit/unit.h"

#define CODE 0x1000
#define CODE_BYTES 0x20

/* A file with the unwind table of one function; addresses are offsets. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	struct {
		uint32_t length, id;
		uint8_t version;
		char augmentation[27];
	} cie;
	struct {
		uint32_t length, back;
		int32_t start;
		uint32_t bytes;
	} fde;
	struct {
		uint8_t encodings[4];
		uint32_t frames, count;
		int32_t start, fde;
	} table;
	uint8_t rest[2 * CODE];
};

static bool is_named_with(const char *augmentation)
{
	struct arena arena = { 0 };
	struct symbol_name name = { 0 };
	const uint64_t address = CODE + 1;
	const struct symbol_search search = { &address, 1, &name, &arena };
	const int32_t table = offsetof(struct image, table);
	struct image image = {
		.header = fixture_elf_header(ET_DYN),
		.segments = { { .p_type = PT_LOAD,
				.p_filesz = sizeof(image),
				.p_memsz = sizeof(image) },
			      { .p_type = PT_GNU_EH_FRAME, .p_vaddr = (uint64_t)table } },
		.cie = { .length = sizeof(image.cie) - 4, .version = 1 },
		.fde = { .length = sizeof(image.fde) - 4,
			 .back = offsetof(struct image, fde.back) - offsetof(struct image, cie),
			 .bytes = CODE_BYTES },
		.table = { .encodings = { 1, 0x1b, 0x03, 0x3b },
			   .count = 1,
			   .start = CODE - table,
			   .fde = (int32_t)offsetof(struct image, fde) - table },
	};
	struct elf_file e;

	image.header.e_phoff = offsetof(struct image, segments);
	image.header.e_phnum = 2;
	strcpy(image.cie.augmentation, augmentation);
	assert_int_equal(elf_file_open_memory(&e, &image, sizeof(image)), ELF_OK);
	fde_find(&e, "file", &search);
	if (name.name)
		assert_string_equal(name.name, "[file+0x1000]");
	elf_file_release(&e);
	arena_release(&arena);
	return name.name;
}

/*
 * Of an augmentation no more is read than compilers write: it is looked for at each address, and
 * one that never ends would be as long as the file.
 */
static void test_augmentation(void **state)
{
	assert_true(is_named_with("zR"));
	assert_true(is_named_with("zPLRSB"));
	assert_false(is_named_with("zPL"));
	assert_false(is_named_with("zPLRPLPLPLPLPLPLPL"));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_augmentation),
};

UNIT_TESTS(tests);
