/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/exception_return.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <string.h>

#include "bpf/abi/unwind.h"

#define START UINT64_C(0x17000)

/* -------- x86-64 -------- */

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
#define LOADED 22 /* what is needed */

static bool find(struct exception_return *r, const uint8_t *code, size_t size)
{
	return exception_return_find(r, &(struct exception_code){ .machine = EM_X86_64,
								  .code = cursor_over(code, size),
								  .start = START,
								  .end = START + size });
}

/* One stretch, from the call on. */
static void is_by_context(const struct exception_return *r, uint64_t copies, uint64_t end, int cfa)
{
	assert_int_equal(r->count, 1);
	assert_true(r->rows_enter);
	assert_int_equal(r->stretches[0].start, copies);
	assert_int_equal(r->stretches[0].end, end);
	assert_int_equal(r->stretches[0].rule.kind, UNWIND_CONTEXT);
	assert_int_equal(r->stretches[0].rule.cfa_offset, cfa);
	assert_int_equal(r->stretches[0].rule.fp_far, cfa - 18 * 8 + 6 * 8);
}

static void finds_the_handlers_stack(void **state)
{
	struct exception_return r;

	assert_true(find(&r, resume, sizeof(resume)));
	is_by_context(&r, START + COPIES, START + sizeof(resume), -0xa0);
}

static void finds_it_with_short_offsets(void **state)
{
	static const uint8_t code[] = {
		0xe8, 0,    0,	  0,	0, /* call */
		0x48, 0x8b, 0x75, 0xd8,	   /* mov -0x28(%rbp),%rsi */
		0x48, 0x8b, 0x7d, 0xd0,	   /* mov -0x30(%rbp),%rdi */
	};
	struct exception_return r;

	assert_true(find(&r, code, sizeof(code)));
	is_by_context(&r, START, START + sizeof(code), -0x30);
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
	is_by_context(&r, START, START + sizeof(code), -0xa0);
}

static void takes_nothing_else_for_it(void **state)
{
	uint8_t code[sizeof(resume)];
	struct exception_return r;

	/* Each shorter one lacks something. */
	for (size_t size = 0; size < LOADED; size++)
		assert_false(find(&r, resume, size));
	assert_true(find(&r, resume, LOADED));
	/* Other variables than the two neighbours. */
	memcpy(code, resume, sizeof(code));
	code[FIRST_LOAD + 3] = 0x60;
	assert_false(find(&r, code, sizeof(code)));
	/* No call before. */
	memcpy(code, resume, sizeof(code));
	code[COPIES] = 0x90;
	assert_false(find(&r, code, sizeof(code)));
}

/* -------- arm64 -------- */

#define RESTORE                                                                                    \
	0xa94107e0,	    /* ldp x0,x1,[sp,#16] */                                               \
		0xa9420fe2, /* ldp x2,x3,[sp,#32] */                                               \
		0xa94353f3, /* ldp x19,x20,[sp,#48] */                                             \
		0xa9445bf5, /* ldp x21,x22,[sp,#64] */                                             \
		0xa94563f7, /* ldp x23,x24,[sp,#80] */                                             \
		0xa9466bf9, /* ldp x25,x26,[sp,#96] */                                             \
		0xa94773fb, /* ldp x27,x28,[sp,#112] */                                            \
		0x6d4827e8, /* ldp d8,d9,[sp,#128] */                                              \
		0x6d492fea, /* ldp d10,d11,[sp,#144] */                                            \
		0x6d4a37ec, /* ldp d12,d13,[sp,#160] */                                            \
		0x6d4b3fee  /* ldp d14,d15,[sp,#176] */
#define RESTORES 11

/* gcc 12's _Unwind_Resume: only the handler is entered. */
static const uint32_t resume_12[] = {
	0xaa1403e0,		/* mov x0,x20 */
	0x97fff683,		/* bl uw_install_context_1 */
	0xaa0003e4,		/* mov x4,x0 */
	0xf943d3e0,		/* ldr x0,[sp,#1952] */
	0xf943d7e1,		/* ldr x1,[sp,#1960] */
	0x97ffff3b,		/* bl _Unwind_DebugHook */
	0xf90007a1,		/* str x1,[x29,#8] */
	0xa9407bfd,		/* ldp x29,x30,[sp] */
	RESTORE,    0x912143ff, /* add sp,sp,#0x850 */
	0x8b2463ff,		/* add sp,sp,x4 */
	0xd65f03c0,		/* ret */
};

/* gcc 12's _Unwind_RaiseException: both ways end in the same instructions. */
static const uint32_t raise_12[] = {
	0xd2800004,		/* mov x4,#0 */
	0x2a0203e0,		/* mov w0,w2 */
	0xa9407bfd,		/* ldp x29,x30,[sp] */
	RESTORE,    0x913b03ff, /* add sp,sp,#0xec0 */
	0x8b2463ff,		/* add sp,sp,x4 */
	0xd65f03c0,		/* ret */
	0x52800062,		/* mov w2,#3 */
	0x17ffffee,		/* b mov x4,#0 */
	0xaa1503e0,		/* mov x0,x21 */
	0x97fff6ea,		/* bl uw_install_context_1 */
	0xaa0003e4,		/* mov x4,x0 */
	0xf943cbe0,		/* ldr x0,[sp,#1936] */
	0xf943cfe1,		/* ldr x1,[sp,#1944] */
	0x97ffffa2,		/* bl _Unwind_DebugHook */
	0xf90007a1,		/* str x1,[x29,#8] */
	0x17ffffe7,		/* b mov w0,w2 */
};

/* gcc 14's _Unwind_Resume, with pointer authentication. */
static const uint32_t resume_14[] = {
	0xaa1403e0,		/* mov x0,x20 */
	0x97fff393,		/* bl uw_install_context_1 */
	0xaa0003f3,		/* mov x19,x0 */
	0xf943d7f4,		/* ldr x20,[sp,#1960] */
	0xf943d3e0,		/* ldr x0,[sp,#1952] */
	0xaa1403e1,		/* mov x1,x20 */
	0x97ffff26,		/* bl _Unwind_DebugHook */
	0x94000d79,		/* bl __arm_za_disable */
	0xaa1303e5,		/* mov x5,x19 */
	0xaa1403e6,		/* mov x6,x20 */
	0xa9407bfd,		/* ldp x29,x30,[sp] */
	0xd2800024,		/* mov x4,#1 */
	RESTORE,    0x912143ff, /* add sp,sp,#0x850 */
	0xb4000104,		/* cbz x4,autiasp */
	0x8b2563ff,		/* add sp,sp,x5 */
	0xd61f00c0,		/* br x6 */
};

/* gcc 14's _Unwind_RaiseException */
static const uint32_t raise_14[] = {
	0xd2800004,		/* mov x4,#0 */
	0x2a0203e0,		/* mov w0,w2 */
	0xa9407bfd,		/* ldp x29,x30,[sp] */
	RESTORE,    0x913043ff, /* add sp,sp,#0xc10 */
	0xb4000064,		/* cbz x4,autiasp */
	0x8b2563ff,		/* add sp,sp,x5 */
	0xd61f00c0,		/* br x6 */
	0xd50323bf,		/* autiasp */
	0xd65f03c0,		/* ret */
	0xaa1603e0,		/* mov x0,x22 */
	0x97fff409,		/* bl uw_install_context_1 */
	0xaa0003f3,		/* mov x19,x0 */
	0xf943cff4,		/* ldr x20,[sp,#1944] */
	0xf943cbe0,		/* ldr x0,[sp,#1936] */
	0xaa1403e1,		/* mov x1,x20 */
	0x97ffff9c,		/* bl _Unwind_DebugHook */
	0x94000def,		/* bl __arm_za_disable */
	0xaa1303e5,		/* mov x5,x19 */
	0xaa1403e6,		/* mov x6,x20 */
	0xd2800024,		/* mov x4,#1 */
	0x17ffffe2,		/* b mov w0,w2 */
};

#define COUNT(code) (sizeof(code) / sizeof((code)[0]))

/* `last`: index of the first instruction after the frame is gone */
static bool find_arm(struct exception_return *r, const uint32_t *code, size_t count, size_t last,
		     int64_t frame)
{
	return exception_return_find(r,
				     &(struct exception_code){ .machine = EM_AARCH64,
							       .code = cursor_over(code, 4 * count),
							       .start = START,
							       .end = START + 4 * last,
							       .frame = frame });
}

/* Instructions [from, to) have a rule of that kind with that offset of the CFA; it is returned. */
static const struct unwind_rule *holds(const struct exception_return *r, size_t i, size_t from,
				       size_t to, int kind, int offset)
{
	assert_true(i < r->count);
	assert_int_equal(r->stretches[i].start, START + 4 * from);
	assert_int_equal(r->stretches[i].end, START + 4 * to);
	assert_int_equal(r->stretches[i].rule.kind, kind);
	assert_int_equal(r->stretches[i].rule.cfa_offset, offset);
	return &r->stretches[i].rule;
}

/* Where x4 says which way it is: these registers are for that to the handler. */
static void enters_by(const struct unwind_rule *rule, int stack, int handler)
{
	assert_int_equal(rule->add & 31, stack);
	assert_int_equal(rule->add >> 5, handler);
}

static void finds_the_only_way_of_gcc_12(void **state)
{
	size_t last = COUNT(resume_12) - 2;
	struct exception_return r;

	assert_true(find_arm(&r, resume_12, COUNT(resume_12), last, 0x850));
	assert_int_equal(r.count, 4);
	assert_false(r.rows_enter);
	assert_int_equal(holds(&r, 0, 1, 8, UNWIND_CONTEXT, 1952)->fp_far, 1952 - 784 + 29 * 8);
	enters_by(holds(&r, 1, 8, last, UNWIND_SP_OR_HANDLER, 0x850), 4, 30);
	enters_by(holds(&r, 2, last, last + 1, UNWIND_SP_OR_HANDLER, 0), 4, 30);
	assert_int_equal(holds(&r, 3, last + 1, last + 2, UNWIND_CFA_SP, 0)->flags,
			 UNWIND_TO_HANDLER);
}

static void finds_both_ways_of_gcc_12(void **state)
{
	size_t last = 3 + RESTORES + 1;
	const struct unwind_rule *rule;
	struct exception_return r;

	assert_true(find_arm(&r, raise_12, COUNT(raise_12), last, 0xec0));
	assert_int_equal(r.count, 5);
	rule = holds(&r, 0, 1, 3, UNWIND_SP_OR_HANDLER, 0xec0);
	enters_by(rule, 4, 1);
	/* The caller is found as before. */
	assert_int_equal(rule->words, 1);
	assert_int_equal(rule->ra_word, 0);
	assert_int_equal(rule->read_offset, 8 - 0xec0);
	assert_int_equal(rule->flags, UNWIND_FP_FROM_FP);
	assert_int_equal(rule->fp_far, 0);
	rule = holds(&r, 1, 3, last, UNWIND_SP_OR_HANDLER, 0xec0);
	enters_by(rule, 4, 30);
	assert_int_equal(rule->words, 0);
	assert_int_equal(rule->ra_word, UNWIND_IN_REGISTER);
	assert_int_equal(rule->flags, 0);
	holds(&r, 2, last, last + 1, UNWIND_SP_OR_HANDLER, 0);
	holds(&r, 3, last + 1, last + 2, UNWIND_CFA_SP, 0);
	assert_int_equal(holds(&r, 4, last + 5, COUNT(raise_12), UNWIND_CONTEXT, 1936)->fp_far,
			 1936 - 784 + 29 * 8);
}

static void finds_the_only_way_of_gcc_14(void **state)
{
	size_t last = COUNT(resume_14) - 3;
	const struct unwind_rule *rule;
	struct exception_return r;

	assert_true(find_arm(&r, resume_14, COUNT(resume_14), last, 0x850));
	assert_int_equal(r.count, 5);
	holds(&r, 0, 1, 11, UNWIND_CONTEXT, 1952);
	/* x4 does not say it yet. */
	rule = holds(&r, 1, 11, 12, UNWIND_SP_OR_HANDLER, 0x850);
	enters_by(rule, 5, 6);
	assert_int_equal(rule->flags, UNWIND_TO_HANDLER);
	rule = holds(&r, 2, 12, last, UNWIND_SP_OR_HANDLER, 0x850);
	enters_by(rule, 5, 6);
	assert_int_equal(rule->flags, 0);
	holds(&r, 3, last, last + 2, UNWIND_SP_OR_HANDLER, 0);
	rule = holds(&r, 4, last + 2, last + 3, UNWIND_CFA_SP, 0);
	assert_int_equal(rule->flags, UNWIND_TO_HANDLER | UNWIND_RA_FROM_REGISTER);
	assert_int_equal(rule->add, 6);
}

static void finds_both_ways_of_gcc_14(void **state)
{
	size_t last = 3 + RESTORES + 1;
	struct exception_return r;

	assert_true(find_arm(&r, raise_14, COUNT(raise_14), last, 0xc10));
	assert_int_equal(r.count, 5);
	enters_by(holds(&r, 0, 1, 3, UNWIND_SP_OR_HANDLER, 0xc10), 5, 6);
	enters_by(holds(&r, 1, 3, last, UNWIND_SP_OR_HANDLER, 0xc10), 5, 6);
	enters_by(holds(&r, 2, last, last + 2, UNWIND_SP_OR_HANDLER, 0), 5, 6);
	holds(&r, 3, last + 2, last + 3, UNWIND_CFA_SP, 0);
	holds(&r, 4, last + 6, COUNT(raise_14), UNWIND_CONTEXT, 1936);
}

/* The code with one instruction that is another one. */
static bool finds_changed(const uint32_t *original, size_t count, size_t last, size_t which,
			  uint32_t other)
{
	struct exception_return r;
	uint32_t code[64];

	memcpy(code, original, 4 * count);
	code[which] = other;
	return find_arm(&r, code, count, last, 0xec0);
}

static void takes_no_other_code_of_arm64(void **state)
{
	size_t last = 3 + RESTORES + 1, call = last + 5;
	const uint32_t nop = 0xd503201f;

	assert_true(finds_changed(raise_12, COUNT(raise_12), last, 0, nop));
	assert_false(finds_changed(raise_12, COUNT(raise_12), last, 2, nop));
	assert_false(finds_changed(raise_12, COUNT(raise_12), last, last, nop));
	assert_false(finds_changed(raise_12, COUNT(raise_12), last, last + 1, nop));
	/* Other variables than the two neighbours, no call, no store, another target */
	assert_false(finds_changed(raise_12, COUNT(raise_12), last, call + 2, 0xf943d7e0));
	assert_false(finds_changed(raise_12, COUNT(raise_12), last, call, nop));
	assert_false(finds_changed(raise_12, COUNT(raise_12), last, call + 5, nop));
	assert_false(finds_changed(raise_12, COUNT(raise_12), last, call + 6, 0x17ffffe2));
	assert_false(finds_changed(raise_14, COUNT(raise_14), last, last + 1, nop));
	assert_false(finds_changed(raise_14, COUNT(raise_14), last, last + 2, nop));
	/* Each shorter one lacks something. */
	for (size_t count = 0; count < COUNT(raise_12); count++) {
		struct exception_return r;

		assert_false(find_arm(&r, raise_12, count, last, 0xec0));
	}
}

/* -------- both -------- */

static void knows_the_rows_of_the_end(void **state)
{
	struct cfi_row row = {
		.cfa = CFI_CFA_REGISTER, .reg = 2, .offset = 8, .ra = { CFI_AT_CFA, -8 }
	};

	assert_true(exception_return_is_end(EM_X86_64, &row, 16));
	assert_false(exception_return_is_end(EM_AARCH64, &row, 0x850));
	row.reg = 6;
	assert_false(exception_return_is_end(EM_X86_64, &row, 16));

	row = (struct cfi_row){ .cfa = CFI_CFA_REGISTER, .reg = 31 };
	assert_true(exception_return_is_end(EM_AARCH64, &row, 0x850));
	assert_false(exception_return_is_end(EM_X86_64, &row, 0x850));
	/* No room for two contexts, or more than a rule can say */
	assert_false(exception_return_is_end(EM_AARCH64, &row, 1904));
	assert_false(exception_return_is_end(EM_AARCH64, &row, 32768));
	row.offset = 16;
	assert_false(exception_return_is_end(EM_AARCH64, &row, 0x850));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(finds_the_handlers_stack),
	cmocka_unit_test(finds_it_with_short_offsets),
	cmocka_unit_test(finds_it_with_other_registers),
	cmocka_unit_test(takes_nothing_else_for_it),
	cmocka_unit_test(finds_the_only_way_of_gcc_12),
	cmocka_unit_test(finds_both_ways_of_gcc_12),
	cmocka_unit_test(finds_the_only_way_of_gcc_14),
	cmocka_unit_test(finds_both_ways_of_gcc_14),
	cmocka_unit_test(takes_no_other_code_of_arm64),
	cmocka_unit_test(knows_the_rows_of_the_end),
};

UNIT_TESTS(tests);
