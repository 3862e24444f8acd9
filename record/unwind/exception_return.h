/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_EXCEPTION_RETURN_H
#define RECORD_UNWIND_EXCEPTION_RETURN_H

/*
 * The functions of libgcc that throw (_Unwind_RaiseException, _Unwind_Resume) do not return to
 * their caller, but into the function with the handler, some frames above. Before they do, they
 * copy that function's registers over those that they have saved themselves, the return address
 * among them. From there on their unwind information leads to garbage. But the stack pointer of the
 * function with the handler lies in a variable of theirs, which is passed to _Unwind_DebugHook().
 * x86-64.
 */

#include <stdbool.h>
#include <stdint.h>

#include "common/cursor.h"
#include "record/unwind/cfi.h"
#include "record/unwind/unwind_rules.h"

struct exception_return {
	uint64_t copies;	 /* the call that copies the registers */
	uint64_t stored;	 /* the return address is the handler's from here on */
	struct unwind_rule rule; /* from `copies` on; with UNWIND_TO_HANDLER from `stored` on */
};

/* Whether this row is that of the last instructions of such a function. */
bool exception_return_is_end(const struct cfi_row *row);

/* Finds it in the code before those instructions, which begins at `address`. */
bool exception_return_find(struct exception_return *r, struct cursor code, uint64_t address);

#endif
