/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/x86_instruction.h"
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *bytes; /* in hexadecimal */
	struct x86_instruction is;
} known[] = {
	{ "55", { 1, X86_PUSH, 5 } },
	{ "4157", { 2, X86_PUSH, 15 } },
	{ "5b", { 1, X86_POP, 3 } },
	{ "6a01", { 2, X86_PUSH, 255 } },
	{ "ff742408", { 4, X86_PUSH, 255 } },
	{ "ffb424981d0000", { 7, X86_PUSH, 255 } },
	{ "4883ec10", { 4, X86_SP_ADD, 255, -16 } },
	{ "4881ec581d0000", { 7, X86_SP_ADD, 255, -0x1d58 } },
	{ "4883c478", { 4, X86_SP_ADD, 255, 0x78 } },
	{ "4883e4f0", { 4, X86_SP_ALIGN, 255, -16 } },
	{ "488d642440", { 5, X86_SP_ADD, 255, 64 } },
	{ "488d65d8", { 4, X86_SP_FROM_FP, 255, -40 } },
	{ "4889ec", { 3, X86_SP_FROM_FP, 255, 0 } },
	{ "488b6638", { 4, X86_SP_OTHER, 255 } },
	{ "4829c4", { 3, X86_SP_OTHER, 255 } },
	{ "4889e5", { 3, X86_FP_FROM_SP, 255, 0 } },
	{ "488bec", { 3, X86_FP_FROM_SP, 255, 0 } },
	{ "488d6c2408", { 5, X86_FP_FROM_SP, 255, 8 } },
	{ "48896c2408", { 5, X86_FP_STORE, 255, 8 } },
	{ "488b6c2408", { 5, X86_FP_LOAD, 255, 8 } },
	{ "31ed", { 2, X86_FP_CLEAR, 255 } },
	{ "c9", { 1, X86_LEAVE, 255 } },
	{ "c3", { 1, X86_RETURN, 255 } },
	{ "f3c3", { 2, X86_RETURN, 255 } },
	{ "c20800", { 3, X86_RETURN, 255 } },
	{ "e978563412", { 5, X86_JUMP, 255, 0x12345678 } },
	{ "ebfe", { 2, X86_JUMP, 255, -2 } },
	{ "ffe0", { 2, X86_JUMP_FAR, 255 } },
	{ "ff24c500104000", { 7, X86_JUMP_FAR, 255 } },
	{ "7510", { 2, X86_BRANCH, 255, 16 } },
	{ "0f8410000000", { 6, X86_BRANCH, 255, 16 } },
	{ "e8fbffffff", { 5, X86_CALL, 255, -5 } },
	{ "0f0b", { 2, X86_STOP, 255 } },
	{ "cc", { 1, X86_STOP, 255 } },
	{ "90", { 1, X86_PADDING, 255 } },
	{ "660f1f840000000000", { 9, X86_PADDING, 255 } },
	{ "0f1f4000", { 4, X86_PADDING, 255 } },
	/* Of all else only the size matters. */
	{ "f30f1efa", { 4, X86_OTHER, 255 } },
	{ "0f05", { 2, X86_OTHER, 255 } },
	{ "48b8efcdab8967452301", { 10, X86_OTHER, 255 } },
	{ "66b83412", { 4, X86_OTHER, 255 } },
	{ "c7442408ffffffff", { 8, X86_OTHER, 255 } },
	{ "f7c100010000", { 6, X86_OTHER, 255 } },
	{ "f7d8", { 2, X86_OTHER, 255 } },
	{ "64488b042528000000", { 9, X86_OTHER, 255 } },
	{ "488b0512345600", { 7, X86_OTHER, 255 } },
	{ "4a8b04e500104000", { 8, X86_OTHER, 255 } },
	{ "c5f96f0424", { 5, X86_OTHER, 255 } },
	{ "c5f877", { 3, X86_OTHER, 255 } },
	{ "c4e37d39c101", { 6, X86_OTHER, 255 } },
	{ "62f1fe286f4702", { 7, X86_OTHER, 255 } },
	{ "660f3a0fc108", { 6, X86_OTHER, 255 } },
	{ "660f3800c1", { 5, X86_OTHER, 255 } },
	{ "0fbae007", { 4, X86_OTHER, 255 } },
	{ "660f70c0d8", { 5, X86_OTHER, 255 } },
	{ "48a10000000000000000", { 10, X86_OTHER, 255 } },
	{ "ff10", { 2, X86_OTHER, 255 } },
};

static size_t bytes_of(const char *text, uint8_t *bytes)
{
	size_t n = strlen(text) / 2;
	unsigned int byte;

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
		bytes[i] = (uint8_t)byte;
	}
	return n;
}

static void sizes_and_effects(void **state)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		uint8_t bytes[16] = { 0 };
		size_t n = bytes_of(known[i].bytes, bytes);
		struct x86_instruction is = x86_instruction_at(bytes, sizeof(bytes));

		if (is.size != n || is.effect != known[i].is.effect)
			print_error("%s: size %u, effect %u\n", known[i].bytes, is.size, is.effect);
		assert_int_equal(is.size, known[i].is.size);
		assert_int_equal(is.effect, known[i].is.effect);
		assert_int_equal(is.reg, known[i].is.reg);
		assert_int_equal(is.value, known[i].is.value);
	}
}

static void cut_off(void **state)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		uint8_t bytes[16];
		size_t n = bytes_of(known[i].bytes, bytes);

		for (size_t size = 0; size < n; size++)
			assert_in_range(x86_instruction_at(bytes, size).size, 0, size);
	}
}

static void no_instruction(void **state)
{
	static const uint8_t none[] = { 0x06, 0x27, 0x60, 0x82, 0x9a, 0xce, 0xd4, 0xea };

	for (size_t i = 0; i < sizeof(none); i++) {
		const uint8_t bytes[15] = { none[i] };

		assert_int_equal(x86_instruction_at(bytes, sizeof(bytes)).size, 0);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(sizes_and_effects),
	cmocka_unit_test(cut_off),
	cmocka_unit_test(no_instruction),
};

UNIT_TESTS(tests);
