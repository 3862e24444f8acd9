/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdint.h>

#include "report/annotate/disassembler.h"
#include "tests/unit/error_check.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#ifdef PROF_DISASSEMBLER

/* From memory of exactly that size, so that a sanitizer sees what is read beyond. */
static void decode(struct disassembly *d, const void *code, size_t size)
{
	uint8_t *exact = malloc(size);

	assert_non_null(exact);
	memcpy(exact, code, size);
	*d = (struct disassembly){ 0 };
	assert_no_error(disassemble(d, EM_X86_64, 0x1000, exact, size));
	free(exact);
}

static void expect(const struct disassembly *d, size_t i, uint64_t address, const char *text)
{
	assert_true(i < d->count);
	assert_int_equal(d->list[i].address, address);
	assert_string_equal(d->list[i].text, text);
}

static void test_instructions(void **state)
{
	/* push %rbp; jne 0x1001; call 0x1010; mov 0x201(%rip),%rax; ret */
	static const uint8_t code[] = { 0x55, 0x75, 0xfe, 0xe8, 8, 0, 0, 0,
					0x48, 0x8b, 0x05, 1,	2, 0, 0, 0xc3 };
	struct disassembly d;

	decode(&d, code, sizeof(code));
	assert_int_equal(d.count, 5);
	expect(&d, 0, 0x1000, "push   %rbp");
	assert_false(d.list[0].refers || d.list[0].jumps);
	expect(&d, 1, 0x1001, "jne    \1");
	assert_true(d.list[1].refers && d.list[1].jumps);
	assert_int_equal(d.list[1].target, 0x1001);
	expect(&d, 2, 0x1003, "call   \1");
	assert_int_equal(d.list[2].target, 0x1010);
	expect(&d, 3, 0x1008, "mov    0x201(%rip),%rax        # \1");
	assert_true(d.list[3].refers && !d.list[3].jumps);
	assert_int_equal(d.list[3].target, 0x1210);
	expect(&d, 4, 0x100f, "ret");
	disassembly_release(&d);
}

static void test_cut_short(void **state)
{
	static const uint8_t code[] = { 0x90, 0xe8, 8, 0 };
	struct disassembly d;

	decode(&d, code, sizeof(code));
	expect(&d, 0, 0x1000, "nop");
	expect(&d, 1, 0x1001, ".byte 0xe8");
	assert_false(d.list[1].refers || d.list[1].jumps);
	disassembly_release(&d);
	decode(&d, code, 0);
	assert_int_equal(d.count, 0);
	disassembly_release(&d);
}

static void test_any_bytes(void **state)
{
	uint8_t code[4096];
	struct disassembly d;
	uint64_t next = 0x1000;

	srand(1);
	for (size_t i = 0; i < sizeof(code); i++)
		code[i] = (uint8_t)rand();
	decode(&d, code, sizeof(code));
	for (size_t i = 0; i < d.count; i++) {
		assert_int_equal(d.list[i].address, next);
		assert_true(d.list[i].size);
		next += d.list[i].size;
	}
	assert_int_equal(next, 0x1000 + sizeof(code));
	disassembly_release(&d);
}

static void test_other_machines(void **state)
{
	struct disassembly d = { 0 };

	assert_error_kind(disassemble(&d, EM_S390, 0, (const uint8_t *)"", 1), ERROR_UNAVAILABLE);
	assert_int_equal(d.count, 0);
	disassembly_release(&d);
}

#else

static void test_without(void **state)
{
	struct disassembly d = { 0 };

	assert_error_kind(disassemble(&d, EM_X86_64, 0, (const uint8_t *)"\x90", 1),
			  ERROR_UNAVAILABLE);
	disassembly_release(&d);
}

#endif

static const struct CMUnitTest tests[] = {
#ifdef PROF_DISASSEMBLER
	cmocka_unit_test(test_instructions),
	cmocka_unit_test(test_cut_short),
	cmocka_unit_test(test_any_bytes),
	cmocka_unit_test(test_other_machines),
#else
	cmocka_unit_test(test_without),
#endif
};

UNIT_TESTS(tests);
