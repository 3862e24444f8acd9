/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/limits.h"
#include "record/unwind/function_starts.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>

#define BASE 0x1000

/* Puts a call at `at` of the function at `to`. */
static void put_call(uint8_t *code, size_t at, size_t to)
{
	uint32_t distance = (uint32_t)(to - at - 5);

	code[at] = 0xe8;
	memcpy(code + at + 1, &distance, sizeof(distance));
}

static void test_calls(void **state)
{
	uint8_t code[512];
	struct elf_segment segment = {
		.type = PT_LOAD, .flags = PF_R | PF_X, .address = BASE, .file_size = sizeof(code)
	};
	struct elf_segment *loads[] = { &segment };
	struct elf_file e = { .data = code,
			      .size = sizeof(code),
			      .loads = loads,
			      .load_count = 1,
			      .entry = BASE + 300 };
	struct code_ranges all = { 0 }, gaps = { 0 };
	struct code_source from = { .file = &e, .code = &all, .gaps = &gaps };
	struct function_starts s;

	memset(code, 0x90, sizeof(code));
	put_call(code, 16, 272);
	put_call(code, 100, 320);
	put_call(code, 110, 320); /* the same one again */
	put_call(code, 120, 40);  /* code with unwind information */
	/* No call, but the immediate of mov $..., %rax. */
	code[200] = 0x48;
	code[201] = 0xb8;
	put_call(code, 202, 352);
	assert_true(code_ranges_add(&all, BASE, BASE + sizeof(code)));
	assert_true(code_ranges_add(&gaps, BASE + 256, BASE + 400));

	function_starts_find(&s, &from);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.all[0].address, BASE + 272);
	assert_int_equal(s.all[1].address, BASE + 300); /* the file's entry */
	assert_int_equal(s.all[2].address, BASE + 320);
	assert_int_equal(function_starts_next(&s, BASE + 273), 1);
	assert_int_equal(function_starts_next(&s, BASE + 321), 3);
	function_starts_release(&s);
	code_ranges_release(&all);
	code_ranges_release(&gaps);
}

/* A call after as much code as is searched: with the code before it, a file of holes. */
static void test_searched_code_is_bounded(void **state)
{
	const size_t size = LIMIT_SEARCHED_BYTES + (1 << 20);
	uint8_t *code = mmap(NULL, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct elf_segment segment = {
		.type = PT_LOAD, .flags = PF_R | PF_X, .address = BASE, .file_size = size
	};
	struct elf_segment *loads[] = { &segment };
	struct elf_file e = { .data = code, .size = size, .loads = loads, .load_count = 1 };
	struct code_ranges all = { 0 }, gaps = { 0 };
	struct code_source from = { .file = &e, .code = &all, .gaps = &gaps };
	struct function_starts s;

	assert_ptr_not_equal(code, MAP_FAILED);
	put_call(code, 16, 272);
	put_call(code, LIMIT_SEARCHED_BYTES + 16, 320);
	/* Two ranges: the limit is that of both. */
	assert_true(code_ranges_add(&all, BASE, BASE + 4096));
	assert_true(code_ranges_add(&all, BASE + 4096, BASE + size));
	assert_true(code_ranges_add(&gaps, BASE + 256, BASE + 400));
	function_starts_find(&s, &from);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.all[0].address, BASE + 272);
	function_starts_release(&s);
	code_ranges_release(&all);
	code_ranges_release(&gaps);
	munmap(code, size);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_calls),
	cmocka_unit_test(test_searched_code_is_bounded),
};

UNIT_TESTS(tests);
