/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_EXCEPTION_RETURN_H
#define RECORD_UNWIND_EXCEPTION_RETURN_H

/*
 * The functions of libgcc that throw (_Unwind_RaiseException, _Unwind_Resume) do not return to
 * their caller, but into the function with the handler, some frames above. Before they do, they
 * copy that function's registers over those that they have saved themselves, the return address
 * among them. From there on their unwind information leads to garbage. But a struct _Unwind_Context
 * of theirs says where the handler's code, stack and frame pointer are.
 *
 * On x86-64 that lasts until their last instructions, whose rows are right. On arm64 they end as
 * other functions do, in instructions that the way to a handler often shares with that to the
 * caller (gcc 10 to 13: `add sp,sp,x4; ret`, gcc 14: `cbz x4; add sp,sp,x5; br x6`): which one it
 * is stands in x4.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cursor.h"
#include "record/unwind/cfi.h"
#include "record/unwind/unwind_rules.h"

#define EXCEPTION_RETURN_STRETCHES 6

/* Code whose rows do not hold. */
struct exception_stretch {
	uint64_t start, end;
	struct unwind_rule rule;
};

/* In order of their addresses, none of which is in another one. */
struct exception_return {
	struct exception_stretch stretches[EXCEPTION_RETURN_STRETCHES];
	size_t count;
	bool rows_enter; /* the rows from the last instructions on are right, but enter the handler
			  */
};

/* Where such a function may be. */
struct exception_code {
	uint16_t machine;   /* EM_X86_64 or EM_AARCH64 */
	struct cursor code; /* its bytes, as far as they are looked at */
	uint64_t start;	    /* address of the first one */
	uint64_t end;  /* of the last instructions, whose row exception_return_is_end() knows */
	int64_t frame; /* bytes: the CFA's offset in the row before */
};

/*
 * Whether `row` may be that of the last instructions of such a function, after one whose CFA has
 * the offset `frame`.
 */
bool exception_return_is_end(uint16_t machine, const struct cfi_row *row, int64_t frame);

/*
 * Whether the instructions there may be those last ones, too: a look at a few of them. On x86-64
 * the row says enough.
 */
bool exception_return_is_likely(const struct exception_code *c);

/* Goes through all of the code. False: the function is not one of those. */
bool exception_return_find(struct exception_return *r, const struct exception_code *c);

#endif
