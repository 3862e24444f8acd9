/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/cfi.h"
#include "tests/unit/unit.h"

#include <dwarf.h>
#include <stdlib.h>

#include "common/buffer.h"
#include "record/unwind/unwind_arch.h"

#define ADDRESS 0x10000 /* of the section */
#define CODE 0x1000

/* Makes sections entry by entry; the length of the last one is put in when it ends. */
struct section {
	struct buffer b;
	size_t entry;
};

static void begin(struct section *s, uint32_t id)
{
	s->entry = s->b.size;
	buffer_u32(&s->b, 0);
	buffer_u32(&s->b, id);
}

static void end(struct section *s)
{
	uint32_t size;

	while (s->b.size % 4)
		buffer_u8(&s->b, DW_CFA_nop);
	size = (uint32_t)(s->b.size - s->entry - 4);
	memcpy(s->b.data + s->entry, &size, sizeof(size));
}

/* "zR" with pc-relative 4-byte pointers; CFA = sp + 8, return address at CFA - 8. */
static void add_cie(struct section *s, const char *augmentation)
{
	begin(s, 0);
	buffer_u8(&s->b, 1);
	buffer_append(&s->b, augmentation, strlen(augmentation) + 1);
	buffer_uleb(&s->b, 1);
	buffer_sleb(&s->b, -8);
	buffer_u8(&s->b, 16);
	buffer_uleb(&s->b, 1);
	buffer_u8(&s->b, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	buffer_u8(&s->b, DW_CFA_def_cfa);
	buffer_uleb(&s->b, ARCH_REGISTER_SP);
	buffer_uleb(&s->b, 8);
	buffer_u8(&s->b, DW_CFA_offset | 16);
	buffer_uleb(&s->b, 1);
	end(s);
}

static void begin_fde(struct section *s, uint32_t cie, uint32_t start, uint32_t size)
{
	begin(s, (uint32_t)(s->b.size + 4 - cie));
	buffer_u32(&s->b, start - (uint32_t)(ADDRESS + s->b.size));
	buffer_u32(&s->b, size);
	buffer_uleb(&s->b, 0);
}

struct rows {
	uint64_t address[64];
	struct cfi_row row[64];
	size_t n;
};

static void keep(void *context, uint64_t address, const struct cfi_row *row)
{
	struct rows *rows = context;

	assert_true(rows->n < 64);
	rows->address[rows->n] = address;
	rows->row[rows->n++] = *row;
}

static int run(struct section *s, struct rows *rows)
{
	struct cfi cfi;
	int error = cfi_open(&cfi, cursor_over(s->b.data, s->b.size), ADDRESS, false);

	rows->n = 0;
	for (size_t i = 0; i < cfi.fde_count; i++)
		if (cfi_run(&cfi, &cfi.fdes[i], keep, rows) && !error)
			error = CFI_ERROR_CORRUPT;
	cfi_release(&cfi);
	return error;
}

static void test_usual_function(void **state)
{
	struct section s = { 0 };
	struct rows rows;

	add_cie(&s, "zR");
	begin_fde(&s, 0, CODE, 100);
	buffer_u8(&s.b, DW_CFA_advance_loc | 1); /* push %rbp */
	buffer_u8(&s.b, DW_CFA_def_cfa_offset);
	buffer_uleb(&s.b, 16);
	buffer_u8(&s.b, DW_CFA_offset | ARCH_REGISTER_FP);
	buffer_uleb(&s.b, 2);
	buffer_u8(&s.b, DW_CFA_advance_loc | 3); /* mov %rsp,%rbp */
	buffer_u8(&s.b, DW_CFA_def_cfa_register);
	buffer_uleb(&s.b, ARCH_REGISTER_FP);
	buffer_u8(&s.b, DW_CFA_advance_loc1); /* leave */
	buffer_u8(&s.b, 90);
	buffer_u8(&s.b, DW_CFA_def_cfa);
	buffer_uleb(&s.b, ARCH_REGISTER_SP);
	buffer_uleb(&s.b, 8);
	buffer_u8(&s.b, DW_CFA_restore | ARCH_REGISTER_FP);
	end(&s);
	assert_int_equal(run(&s, &rows), CFI_OK);
	assert_int_equal(rows.n, 4);
	assert_int_equal(rows.address[0], CODE);
	assert_int_equal(rows.row[0].offset, 8);
	assert_int_equal(rows.row[0].ra.place, CFI_AT_CFA);
	assert_int_equal(rows.row[0].ra.offset, -8);
	assert_int_equal(rows.row[0].fp.place, CFI_UNSAID);
	assert_int_equal(rows.address[1], CODE + 1);
	assert_int_equal(rows.row[1].fp.offset, -16);
	assert_int_equal(rows.row[2].reg, ARCH_REGISTER_FP);
	assert_int_equal(rows.row[2].offset, 16);
	assert_int_equal(rows.address[3], CODE + 94);
	assert_int_equal(rows.row[3].reg, ARCH_REGISTER_SP);
	assert_int_equal(rows.row[3].fp.place, CFI_UNSAID);
	buffer_release(&s.b);
}

static void test_remembered_state(void **state)
{
	struct section s = { 0 };
	struct rows rows;

	add_cie(&s, "zR");
	begin_fde(&s, 0, CODE, 100);
	buffer_u8(&s.b, DW_CFA_remember_state);
	buffer_u8(&s.b, DW_CFA_advance_loc | 10);
	buffer_u8(&s.b, DW_CFA_def_cfa_offset);
	buffer_uleb(&s.b, 64);
	buffer_u8(&s.b, DW_CFA_advance_loc | 10);
	buffer_u8(&s.b, DW_CFA_restore_state);
	end(&s);
	assert_int_equal(run(&s, &rows), CFI_OK);
	assert_int_equal(rows.n, 3);
	assert_int_equal(rows.row[1].offset, 64);
	assert_int_equal(rows.row[2].offset, 8);
	buffer_release(&s.b);
}

static void add_block(struct section *s, uint8_t op, const uint8_t *bytes, size_t size)
{
	buffer_u8(&s->b, op);
	buffer_uleb(&s->b, size);
	buffer_append(&s->b, bytes, size);
}

static void test_expressions(void **state)
{
	static const uint8_t plt[] = { DW_OP_breg0 + ARCH_REGISTER_SP,
				       8,
				       DW_OP_breg0 + 16,
				       0,
				       DW_OP_lit15,
				       DW_OP_and,
				       DW_OP_lit11,
				       DW_OP_ge,
				       DW_OP_lit3,
				       DW_OP_shl,
				       DW_OP_plus };
	static const uint8_t deref[] = { DW_OP_breg0 + ARCH_REGISTER_FP, 0x78, DW_OP_deref };
	static const uint8_t deref_add[] = { DW_OP_breg0 + ARCH_REGISTER_SP, 24, DW_OP_deref,
					     DW_OP_plus_uconst, 8 };
	static const uint8_t other[] = { DW_OP_lit0 };
	struct section s = { 0 };
	struct rows rows;

	add_cie(&s, "zR");
	begin_fde(&s, 0, CODE, 100);
	add_block(&s, DW_CFA_def_cfa_expression, plt, sizeof(plt));
	buffer_u8(&s.b, DW_CFA_advance_loc | 1);
	add_block(&s, DW_CFA_def_cfa_expression, deref, sizeof(deref));
	buffer_u8(&s.b, DW_CFA_advance_loc | 1);
	add_block(&s, DW_CFA_def_cfa_expression, deref_add, sizeof(deref_add));
	buffer_u8(&s.b, DW_CFA_advance_loc | 1);
	add_block(&s, DW_CFA_def_cfa_expression, other, sizeof(other));
	end(&s);
	assert_int_equal(run(&s, &rows), CFI_OK);
	assert_int_equal(rows.n, 4);
#if defined(__x86_64__)
	assert_int_equal(rows.row[0].cfa, CFI_CFA_PLT);
	assert_int_equal(rows.row[0].offset, 8);
	assert_int_equal(rows.row[0].add, 11);
#endif
	assert_int_equal(rows.row[1].cfa, CFI_CFA_DEREF);
	assert_int_equal(rows.row[1].offset, -8);
	assert_int_equal(rows.row[1].add, 0);
	assert_int_equal(rows.row[2].cfa, CFI_CFA_DEREF);
	assert_int_equal(rows.row[2].offset, 24);
	assert_int_equal(rows.row[2].add, 8);
	assert_int_equal(rows.row[3].cfa, CFI_CFA_OTHER);
	buffer_release(&s.b);
}

static void test_signal_frame_and_end(void **state)
{
	struct section s = { 0 };
	struct rows rows;

	add_cie(&s, "zRS");
	begin_fde(&s, 0, CODE, 9);
	buffer_u8(&s.b, DW_CFA_undefined);
	buffer_uleb(&s.b, 16);
	end(&s);
	assert_int_equal(run(&s, &rows), CFI_OK);
	assert_int_equal(rows.n, 1);
	assert_true(rows.row[0].signal);
	assert_int_equal(rows.row[0].ra.place, CFI_UNDEFINED);
	buffer_release(&s.b);
}

static void test_fdes_are_sorted(void **state)
{
	struct section s = { 0 };
	struct cfi cfi;

	add_cie(&s, "zR");
	begin_fde(&s, 0, CODE + 0x300, 16);
	end(&s);
	begin_fde(&s, 0, CODE, 16);
	end(&s);
	begin_fde(&s, 0, CODE + 0x100, 0); /* dropped by the linker */
	end(&s);
	assert_int_equal(cfi_open(&cfi, cursor_over(s.b.data, s.b.size), ADDRESS, false), CFI_OK);
	assert_int_equal(cfi.fde_count, 2);
	assert_int_equal(cfi.fdes[0].start, CODE);
	assert_int_equal(cfi.fdes[1].start, CODE + 0x300);
	cfi_release(&cfi);
	buffer_release(&s.b);
}

/* Broken instructions end the FDE; the rows before them stand. */
static void test_nonsense(void **state)
{
	static const uint8_t broken[][3] = {
		{ 0x3f, 0, 0 },				/* no such instruction */
		{ DW_CFA_restore_state, 0, 0 },		/* nothing remembered */
		{ DW_CFA_def_cfa_expression, 0x7f, 0 }, /* longer than the entry */
		{ DW_CFA_advance_loc4, 0xff, 0xff },	/* cut off, or far beyond the end */
	};
	struct rows rows;

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		struct section s = { 0 };

		add_cie(&s, "zR");
		begin_fde(&s, 0, CODE, 100);
		buffer_u8(&s.b, DW_CFA_advance_loc | 4);
		buffer_u8(&s.b, DW_CFA_def_cfa_offset);
		buffer_uleb(&s.b, 16);
		buffer_append(&s.b, broken[i], 3);
		end(&s);
		run(&s, &rows);
		assert_true(rows.n >= 1);
		assert_int_equal(rows.address[0], CODE);
		assert_int_equal(rows.row[0].offset, 8);
		buffer_release(&s.b);
	}
}

static void test_remembering_has_a_limit(void **state)
{
	struct section s = { 0 };
	struct rows rows;

	add_cie(&s, "zR");
	begin_fde(&s, 0, CODE, 100);
	for (int i = 0; i < 100; i++)
		buffer_u8(&s.b, DW_CFA_remember_state);
	end(&s);
	assert_int_equal(run(&s, &rows), CFI_ERROR_CORRUPT);
	buffer_release(&s.b);
}

/* Whatever byte is changed or cut off: no crash, and no row outside of its FDE. */
static void test_every_damage(void **state)
{
	struct section s = { 0 };
	uint8_t *copy;

	add_cie(&s, "zR");
	begin_fde(&s, 0, CODE, 100);
	buffer_u8(&s.b, DW_CFA_advance_loc | 4);
	buffer_u8(&s.b, DW_CFA_def_cfa_offset);
	buffer_uleb(&s.b, 16);
	end(&s);
	copy = malloc(s.b.size);
	for (size_t i = 0; i < s.b.size; i++) {
		for (int value = 0; value < 256; value++) {
			struct section damaged = { .b = { .data = copy, .size = s.b.size } };
			struct rows rows;

			memcpy(copy, s.b.data, s.b.size);
			copy[i] = (uint8_t)value;
			run(&damaged, &rows);
			damaged.b.size = i;
			run(&damaged, &rows);
		}
	}
	free(copy);
	buffer_release(&s.b);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_usual_function),
	cmocka_unit_test(test_remembered_state),
	cmocka_unit_test(test_expressions),
	cmocka_unit_test(test_signal_frame_and_end),
	cmocka_unit_test(test_fdes_are_sorted),
	cmocka_unit_test(test_nonsense),
	cmocka_unit_test(test_remembering_has_a_limit),
	cmocka_unit_test(test_every_damage),
};

UNIT_TESTS(tests);
