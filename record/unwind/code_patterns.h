/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_CODE_PATTERNS_H
#define RECORD_UNWIND_CODE_PATTERNS_H

/*
 * Code that files hold without unwind information, but whose shape says how to unwind it:
 * the linker's procedure linkage tables, the C library's _init and _fini, and the
 * program's entry point, which nothing calls.
 */

#include <stdbool.h>
#include <stdint.h>

#include "common/elf_file.h"
#include "record/unwind/unwind_rules.h"

/*
 * Whether a function is the one that makecontext() puts at the bottom of a stack: it is returned
 * to, at its very start, and not called.
 */
bool code_begins_stack(const struct elf_file *e, uint64_t address, uint64_t size);

/* From `start` up to `end`, `rule` holds. Link-time addresses. */
typedef void code_pattern_function(void *context, uint64_t start, uint64_t end,
				   const struct unwind_rule *rule);

/* Calls `found` for each stretch, in no order. */
void code_patterns_each(const struct elf_file *e, code_pattern_function *found, void *context);

#endif
