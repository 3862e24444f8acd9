/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/runtimes/elf_names.h"
#include "common/limits.h"
#include "tests/unit/elf_fixture.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

/* Of so many dynamic symbols the last one has the name that is asked for. */
static bool has_last(size_t count, const uint32_t *hash, size_t hash_size)
{
	static const char names[] = "\0other\0wanted";
	Elf64_Sym *all = malloc(count * sizeof(*all));
	struct buffer image = { 0 };
	struct elf_file e;
	bool has;

	assert_non_null(all);
	for (size_t i = 0; i < count; i++)
		all[i] = fixture_symbol(i + 1 < count ? 1 : 7, 0x800, 1);
	fixture_elf(&image,
		    (struct fixture_section[]){
			    { ".dynsym", 0, all, count * sizeof(*all), SHT_DYNSYM },
			    { ".gnu.hash", 0, hash, hash_size, SHT_GNU_HASH },
			    { ".dynstr", 0, names, sizeof(names), SHT_STRTAB },
		    },
		    3);
	((Elf64_Shdr *)(image.data + ((Elf64_Ehdr *)image.data)->e_shoff))[1].sh_link = 3;
	assert_int_equal(elf_file_open_memory(&e, image.data, image.size), ELF_OK);
	has = elf_names_has(&e, "wanted");
	elf_file_release(&e);
	buffer_release(&image);
	free(all);
	return has;
}

static void test_without_a_hash_table(void **state)
{
	assert_true(has_last(1, NULL, 0));
	assert_true(has_last(LIMIT_UNHASHED_SYMBOLS, NULL, 0));
	assert_false(has_last(LIMIT_UNHASHED_SYMBOLS + 1, NULL, 0));
}

/* One bucket that has all symbols, as a table of zeros would have. */
static bool has_hashed(size_t count)
{
	enum { HEAD = 7 };
	/* Buckets, their first symbol, words of the filter (of 64 bits), shift; filter, bucket. */
	uint32_t table[HEAD + LIMIT_HASH_CHAIN + 1] = { 1, 1, 1, 0, 0, 0, 1 };
	uint32_t hash = 5381;

	for (const char *at = "wanted"; *at; at++)
		hash = hash * 33 + (uint8_t)*at;
	table[HEAD + count - 1] = hash | 1;
	return has_last(count + 1, table, (HEAD + count) * sizeof(*table));
}

static void test_hash_table(void **state)
{
	assert_true(has_hashed(1));
	assert_true(has_hashed(LIMIT_HASH_CHAIN));
	assert_false(has_hashed(LIMIT_HASH_CHAIN + 1));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_without_a_hash_table),
	cmocka_unit_test(test_hash_table),
};

UNIT_TESTS(tests);
