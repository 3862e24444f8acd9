/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/unwind_rules.h"
#include "tests/unit/unit.h"

#include "record/unwind/unwind_arch.h"

static struct cfi_row usual(int64_t offset)
{
	return (struct cfi_row){ .cfa = CFI_CFA_REGISTER,
				 .reg = ARCH_REGISTER_SP,
				 .offset = offset,
				 .ra = { CFI_AT_CFA, -8 } };
}

static void test_equal_rules_have_one_number(void **state)
{
	struct rule_set set = { 0 };
	struct unwind_rule a = unwind_rule_at_entry(8), b = unwind_rule_at_entry(16);
	struct unwind_rule end = { .kind = UNWIND_END };
	int first = rule_set_add(&set, &a);

	assert_int_equal(first, RULE_FIRST_FREE);
	assert_int_equal(rule_set_add(&set, &b), RULE_FIRST_FREE + 1);
	assert_int_equal(rule_set_add(&set, &a), first);
	assert_int_equal(rule_set_add(&set, &end), UNWIND_END);
	for (int i = 0; i < 5000; i++) {
		struct unwind_rule rule = unwind_rule_at_entry(24 + 8 * i);

		assert_int_equal(rule_set_add(&set, &rule), RULE_FIRST_FREE + 2 + i);
	}
	assert_int_equal(rule_set_add(&set, &b), RULE_FIRST_FREE + 1);
	rule_set_release(&set);
}

/* The most numbers that one look-up may have to compare. */
static uint32_t longest_run(const struct rule_set *set)
{
	uint32_t run = 0, longest = 0;

	for (uint32_t i = 0; i < 2 * set->bucket_count; i++) {
		run = set->buckets[i % set->bucket_count] ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/* Rules that differ in few bits, as a hostile file could choose them. */
static void test_chosen_rules_do_not_collide(void **state)
{
	struct rule_set set = { 0 };

	for (int k = 0; k < 4096; k++) {
		struct unwind_rule rule = unwind_rule_at_entry(32768 * k);

		assert_int_equal(rule_set_add(&set, &rule), RULE_FIRST_FREE + k);
	}
	assert_true(longest_run(&set) < 200);
	rule_set_release(&set);
}

static void test_full_set(void **state)
{
	struct rule_set set = { .limit = 10 };
	struct unwind_rule rule;

	for (int i = 0; i < 6; i++) {
		rule = unwind_rule_at_entry(8 * i + 8);
		assert_int_equal(rule_set_add(&set, &rule), RULE_FIRST_FREE + i);
	}
	rule = unwind_rule_at_entry(4096);
	assert_int_equal(rule_set_add(&set, &rule), UNWIND_UNSUPPORTED);
	rule_set_release(&set);
}

static void test_return_address_only(void **state)
{
	struct cfi_row row = usual(32);
	struct unwind_rule rule = unwind_rule_from_row(&row);

	assert_int_equal(rule.kind, UNWIND_CFA_SP);
	assert_int_equal(rule.cfa_offset, 32);
	assert_int_equal(rule.words, 1);
	assert_int_equal(rule.read_offset, -8);
	assert_int_equal(rule.ra_word, 0);
	assert_int_equal(rule.fp_word, UNWIND_IN_REGISTER);
	assert_int_equal(rule.base_word, UNWIND_IN_REGISTER);
}

/* The frame pointer at this offset of the CFA, and the base register below it. */
static struct unwind_rule rule_that_saves(int64_t cfa_offset, int64_t fp_offset)
{
	struct cfi_row row = usual(cfa_offset);

	row.fp = (struct cfi_saved){ CFI_AT_CFA, fp_offset };
	row.base = (struct cfi_saved){ CFI_AT_CFA, fp_offset - 8 };
	return unwind_rule_from_row(&row);
}

static void test_what_is_near_is_read_at_once(void **state)
{
	struct unwind_rule rule = rule_that_saves(64, -48);

	assert_int_equal(rule.words, 7);
	assert_int_equal(rule.read_offset, -56);
	assert_int_equal(rule.ra_word, 6);
	assert_int_equal(rule.fp_word, 1);
	assert_int_equal(rule.base_word, 0);
}

static void test_what_is_far_is_read_apart(void **state)
{
	struct unwind_rule rule = rule_that_saves(4096, -4000);

	assert_int_equal(rule.words, 1);
	assert_int_equal(rule.fp_word, UNWIND_IN_REGISTER);
	assert_int_equal(rule.flags, UNWIND_FP_FROM_CFA);
	assert_int_equal(rule.fp_far, -4000);
	assert_int_equal(rule.base_word, UNWIND_LOST);
}

/* As GCC's functions that align their stack have it. */
static void test_aligned_stack(void **state)
{
	struct cfi_row row = { .cfa = CFI_CFA_DEREF,
			       .reg = ARCH_REGISTER_FP,
			       .offset = -8,
			       .ra = { CFI_AT_CFA, -8 },
			       .fp = { CFI_AT_FP, 0 } };
	struct unwind_rule rule = unwind_rule_from_row(&row);

	assert_int_equal(rule.kind, UNWIND_DEREF_FP);
	assert_int_equal(rule.flags, UNWIND_FP_FROM_FP);
	assert_int_equal(rule.fp_far, 0);
}

static void test_ends_and_signals(void **state)
{
	struct cfi_row row = usual(8);

	row.ra.place = CFI_UNDEFINED;
	assert_int_equal(unwind_rule_from_row(&row).kind, UNWIND_END);
	row.signal = true;
	assert_int_equal(unwind_rule_from_row(&row).kind, UNWIND_SIGNAL);
}

static void test_what_cannot_be_done(void **state)
{
	struct cfi_row row = usual(8);

	row.cfa = CFI_CFA_OTHER;
	assert_int_equal(unwind_rule_from_row(&row).kind, UNWIND_UNSUPPORTED);
	row = usual(INT64_C(1) << 40);
	assert_int_equal(unwind_rule_from_row(&row).kind, UNWIND_UNSUPPORTED);
	row = usual(8);
	row.ra = (struct cfi_saved){ CFI_OTHER, 0 };
	assert_int_equal(unwind_rule_from_row(&row).kind, UNWIND_UNSUPPORTED);
	row = usual(8);
	row.reg = 99;
	assert_int_equal(unwind_rule_from_row(&row).kind, UNWIND_UNSUPPORTED);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_equal_rules_have_one_number),
	cmocka_unit_test(test_chosen_rules_do_not_collide),
	cmocka_unit_test(test_full_set),
	cmocka_unit_test(test_return_address_only),
	cmocka_unit_test(test_what_is_near_is_read_at_once),
	cmocka_unit_test(test_what_is_far_is_read_apart),
	cmocka_unit_test(test_aligned_stack),
	cmocka_unit_test(test_ends_and_signals),
	cmocka_unit_test(test_what_cannot_be_done),
};

UNIT_TESTS(tests);
