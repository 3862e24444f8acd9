/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_JAVASCRIPT_V8_BUILTINS_H
#define RECORD_JAVASCRIPT_V8_BUILTINS_H

/*
 * The builtins of V8, which are code without unwind information, one after the other in the file.
 * Their symbols, Builtins_..., say where each is. In files without these, as Debian's libnode.so,
 * two exported functions return where the whole begins and how large it is; in it, the
 * interpreter's entry is recognised by its instructions.
 */

#include <stdbool.h>

#include "common/elf_file.h"

/* Link-time addresses. */
struct v8_builtins {
	uint64_t address, size;
	uint64_t entry, entry_size; /* of the interpreter */
};

/* False: they are not there, or not in a way that is known. */
bool v8_builtins_find(struct v8_builtins *b, const struct elf_file *e);

#endif
