/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/exception_return.h"
#include "tests/unit/unit.h"

#include <string.h>

#define START UINT64_C(0x17000)

#if defined(__x86_64__)
/* The end of _Unwind_Resume, up to where its CFA is found by rcx. */
static const uint8_t resume[] = {
	0x4c, 0x89, 0xee,			  /* mov %r13,%rsi */
	0xe8, 0xcf, 0xd3, 0xff, 0xff,		  /* call uw_install_context_1 */
	0x48, 0x8b, 0xb5, 0x68, 0xff, 0xff, 0xff, /* mov -0x98(%rbp),%rsi */
	0x48, 0x8b, 0xbd, 0x60, 0xff, 0xff, 0xff, /* mov -0xa0(%rbp),%rdi */
	0x31, 0xd2,				  /* xor %edx,%edx */
	0xe8, 0x1a, 0xf9, 0xff, 0xff,		  /* call _Unwind_DebugHook */
	0x48, 0x89, 0xc1,			  /* mov %rax,%rcx */
	0x48, 0x89, 0x74, 0x05, 0x08,		  /* mov %rsi,0x8(%rbp,%rax,1) */
	0x48, 0x8b, 0x6d, 0x00,			  /* mov 0x0(%rbp),%rbp */
};
#define COPIES 3
#define FIRST_LOAD 8
#define STORED 37

static bool find(struct exception_return *r, const uint8_t *code, size_t size)
{
	return exception_return_find(r, cursor_over(code, size), START);
}

static void finds_the_handlers_stack(void **state)
{
	struct exception_return r;

	assert_true(find(&r, resume, sizeof(resume)));
	assert_int_equal(r.copies, START + COPIES);
	assert_int_equal(r.stored, START + STORED);
	assert_int_equal(r.rule.kind, UNWIND_DEREF_FP);
	assert_int_equal(r.rule.cfa_offset, -0xa0);
	assert_int_equal(r.rule.words, 1);
	assert_int_equal(r.rule.read_offset, -8);
	assert_int_equal(r.rule.flags, UNWIND_FP_FROM_FP);
	assert_int_equal(r.rule.base_word, UNWIND_LOST);
}

static void finds_it_with_short_offsets(void **state)
{
	static const uint8_t code[] = {
		0xe8, 0,    0,	  0,	0,    /* call */
		0x48, 0x8b, 0x75, 0xd8,	      /* mov -0x28(%rbp),%rsi */
		0x48, 0x8b, 0x7d, 0xd0,	      /* mov -0x30(%rbp),%rdi */
		0x4c, 0x89, 0x44, 0x15, 0x08, /* mov %r8,0x8(%rbp,%rdx,1) */
	};
	struct exception_return r;

	assert_true(find(&r, code, sizeof(code)));
	assert_int_equal(r.rule.cfa_offset, -0x30);
	assert_int_equal(r.stored, START + sizeof(code));
}

/* gcc 13 with -fcf-protection keeps the return address in a register of its own. */
static void finds_it_with_other_registers(void **state)
{
	static const uint8_t code[] = {
		0xe8, 0x7f, 0xc8, 0xff, 0xff,		  /* call */
		0x4c, 0x8b, 0x8d, 0x68, 0xff, 0xff, 0xff, /* mov -0x98(%rbp),%r9 */
		0x48, 0x8b, 0xbd, 0x60, 0xff, 0xff, 0xff, /* mov -0xa0(%rbp),%rdi */
		0x49, 0x89, 0xc0,			  /* mov %rax,%r8 */
		0x4c, 0x89, 0xce,			  /* mov %r9,%rsi */
		0xe8, 0xe4, 0xf8, 0xff, 0xff,		  /* call _Unwind_DebugHook */
		0xf3, 0x48, 0x0f, 0x1e, 0xc8,		  /* rdsspq %rax */
		0x4a, 0x8d, 0x4c, 0x05, 0x08,		  /* lea 0x8(%rbp,%r8,1),%rcx */
		0x4e, 0x89, 0x4c, 0x05, 0x08,		  /* mov %r9,0x8(%rbp,%r8,1) */
	};
	struct exception_return r;

	assert_true(find(&r, code, sizeof(code)));
	assert_int_equal(r.copies, START);
	assert_int_equal(r.rule.cfa_offset, -0xa0);
	assert_int_equal(r.stored, START + sizeof(code));
}

static void takes_nothing_else_for_it(void **state)
{
	uint8_t code[sizeof(resume)];
	struct exception_return r;

	/* Each shorter one lacks something. */
	for (size_t size = 0; size < STORED; size++)
		assert_false(find(&r, resume, size));
	/* Other variables than the two neighbours. */
	memcpy(code, resume, sizeof(code));
	code[FIRST_LOAD + 3] = 0x60;
	assert_false(find(&r, code, sizeof(code)));
	/* No call before. */
	memcpy(code, resume, sizeof(code));
	code[COPIES] = 0x90;
	assert_false(find(&r, code, sizeof(code)));
	/* The return address goes elsewhere. */
	memcpy(code, resume, sizeof(code));
	code[STORED - 1] = 0x10;
	assert_false(find(&r, code, sizeof(code)));
}

static void knows_the_rows_of_the_end(void **state)
{
	struct cfi_row row = {
		.cfa = CFI_CFA_REGISTER, .reg = 2, .offset = 8, .ra = { CFI_AT_CFA, -8 }
	};

	assert_true(exception_return_is_end(&row));
	row.reg = 6;
	assert_false(exception_return_is_end(&row));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(finds_the_handlers_stack),
	cmocka_unit_test(finds_it_with_short_offsets),
	cmocka_unit_test(finds_it_with_other_registers),
	cmocka_unit_test(takes_nothing_else_for_it),
	cmocka_unit_test(knows_the_rows_of_the_end),
};
#else
static void knows_none_of_this_processor(void **state)
{
	struct exception_return r;

	assert_false(exception_return_find(&r, cursor_over("", 0), START));
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(knows_none_of_this_processor) };
#endif

UNIT_TESTS(tests);
