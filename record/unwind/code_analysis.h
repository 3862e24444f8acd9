/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_CODE_ANALYSIS_H
#define RECORD_UNWIND_CODE_ANALYSIS_H

/*
 * Unwind rules for code without unwind information, from the code itself: instruction by
 * instruction, how far the stack pointer is from the return address and where the frame pointer
 * was saved. Functions begin at symbols, at what is called or pointed to, and after padding; the
 * state at the target of a jump is that at the jump. Where the state is not known there is no rule.
 * Of Go's code its own table has the size of each frame (record/unwind/go_functions.h).
 *
 * Also known by their code or name: the functions of Go's runtime that switch stacks, its and the
 * C library's outermost functions, and signal trampolines.
 *
 * For x86-64. The work is linear in the size of the code.
 */

#include "common/elf_file.h"
#include "record/unwind/code_ranges.h"
#include "record/unwind/unwind_rules.h"

#include <stdatomic.h>
#include <stdbool.h>

/*
 * All of this takes as long as there is code, and a file can claim gigabytes of it. It ends early
 * when another thread sets `stop` (NULL: nobody does), with what was found until then.
 */

/*
 * Whether a signal trampoline begins there, which is entered by a return to its first byte. Return
 * addresses are looked up one byte before; false if a function ends in that byte.
 */
bool code_analysis_is_trampoline(const struct elf_file *e, uint64_t address);

/*
 * Whether [start, end) holds only instructions without effect. On machines other than x86-64:
 * always true.
 */
bool code_analysis_is_padding(const struct elf_file *e, uint64_t start, uint64_t end,
			      const atomic_bool *stop);

struct code_analysis;

/*
 * For the code without unwind information (`gaps`) of all `code`; file and ranges must stay. NULL
 * without memory, or when code of this processor is not analysed.
 */
struct code_analysis *code_analysis_new(const struct elf_file *e, const struct code_ranges *code,
					const struct code_ranges *gaps, const atomic_bool *stop);
void code_analysis_free(struct code_analysis *a);

/*
 * Who is called with what is found: `rule` holds from `address` up to that of the next call; NULL:
 * no rule does. Addresses never decrease.
 */
struct code_analysis_listener {
	void (*found)(void *context, uint64_t address, const struct unwind_rule *rule);
	void *context;
};

/* Analyses what lies in the gaps between `start` and `end`. */
void code_analysis_run(struct code_analysis *a, uint64_t start, uint64_t end,
		       struct code_analysis_listener listener);

#endif
