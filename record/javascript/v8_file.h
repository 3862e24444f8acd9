/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_JAVASCRIPT_V8_FILE_H
#define RECORD_JAVASCRIPT_V8_FILE_H

/*
 * What a program with V8 says of V8's objects: constants that it exports for debuggers, whose names
 * begin with v8dbg_. They differ from version to version, in value, and in the types that
 * are part of their names. A program is recognised by its symbols, whatever it is called. x86-64.
 */

#include <stdbool.h>

#include "bpf/abi/v8.h"
#include "common/elf_file.h"

struct v8_file {
	struct v8_process process; /* without the addresses of the builtins */
	uint64_t code_offset;	   /* of the builtins in the file */
};

/* Whether the file holds V8; called for each file. */
bool v8_file_is_one(const struct elf_file *e);

/* NULL, or the reason why its functions are not named (static text). */
const char *v8_file_read(struct v8_file *f, const struct elf_file *e);

#endif
