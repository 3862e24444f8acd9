/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/code_ranges.h"
#include "tests/unit/unit.h"

#include <elf.h>

#define CODE SHF_EXECINSTR

static void are(const struct elf_file *e, const struct code_range *expected, size_t n)
{
	struct code_ranges r = { 0 };

	assert_true(code_ranges_of_file(&r, e));
	assert_int_equal(r.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(r.all[i].start, expected[i].start);
		assert_int_equal(r.all[i].end, expected[i].end);
	}
	code_ranges_release(&r);
}

/* Strings in an executable segment are no code. */
static void test_file(void **state)
{
	struct elf_segment segments[] = {
		{ .type = PT_LOAD, .flags = PF_R | PF_X, .address = 0x1000, .file_size = 0x9000 },
		{ .type = PT_LOAD, .flags = PF_R, .address = 0xb000, .file_size = 0x1000 },
	};
	struct elf_segment *loads[] = { &segments[0], &segments[1] };
	struct elf_section sections[] = {
		{ .name = "" },
		{ .flags = CODE, .type = SHT_PROGBITS, .address = 0x5000, .size = 0x1000 },
		{ .type = SHT_PROGBITS, .address = 0x1000, .size = 0x4000 },
		{ .flags = CODE, .type = SHT_PROGBITS, .address = 0x4ff0, .size = 0x10 },
		{ .flags = CODE, .type = SHT_PROGBITS, .address = 0x5800, .size = 0x1000 },
		{ .flags = CODE, .type = SHT_PROGBITS, .address = 0x5900, .size = 0x100 },
		{ .flags = CODE, .type = SHT_PROGBITS, .address = UINT64_MAX, .size = 0x100 },
	};
	struct elf_file e = {
		.loads = loads, .load_count = 2, .sections = sections, .section_count = 7
	};

	are(&e, (struct code_range[]){ { 0x4ff0, 0x5000 }, { 0x5000, 0x6000 }, { 0x6000, 0x6800 } },
	    3);
	e.section_count = 0;
	are(&e, (struct code_range[]){ { 0x1000, 0xa000 } }, 1);
}

static void test_search(void **state)
{
	struct code_ranges r = { 0 };

	assert_true(code_ranges_add(&r, 10, 20));
	assert_true(code_ranges_add(&r, 20, 20)); /* nothing */
	assert_true(code_ranges_add(&r, 30, 40));
	assert_int_equal(r.n, 2);
	assert_int_equal(code_ranges_next(&r, 5), 0);
	assert_int_equal(code_ranges_next(&r, 20), 1);
	assert_int_equal(code_ranges_next(&r, 40), 2);
	assert_false(code_ranges_have(&r, 9));
	assert_true(code_ranges_have(&r, 10));
	assert_false(code_ranges_have(&r, 20));
	assert_true(code_ranges_have(&r, 39));
	assert_false(code_ranges_have(&r, 40));
	code_ranges_release(&r);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_file),
	cmocka_unit_test(test_search),
};

UNIT_TESTS(tests);
