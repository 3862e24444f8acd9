/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SCRIPTS_PYTHON_FILE_H
#define RECORD_SCRIPTS_PYTHON_FILE_H

/*
 * What a file that holds a CPython interpreter says of it: where its structures have which field.
 * An interpreter is recognised by its symbols, whatever the file is called: a shared library, the
 * program itself, or a program that has it built in.
 *
 * From the best source to the last: the interpreter's own table of offsets (_Py_DebugOffsets, 3.13
 * on); the tables by which it shows its objects' members to Python; the code of a function that
 * reads the field; what is known of the version. All of it is hostile, and none of it can lead
 * the kernel half further than to an address in that process.
 */

#include <stdbool.h>

#include "bpf/abi/python.h"
#include "common/elf_file.h"

/* How a code object says which line an instruction belongs to. */
enum python_table {
	PYTHON_TABLE_LNOTAB,	/* co_lnotab: 3.8, 3.9 */
	PYTHON_TABLE_LINES,	/* co_linetable, 3.10 */
	PYTHON_TABLE_LOCATIONS, /* co_linetable, 3.11 on */
};

struct python_file {
	unsigned int version;	       /* 0x030b for 3.11 */
	struct python_process process; /* with link-time addresses */
};

/* Whether the file holds an interpreter; called for each file. */
bool python_file_is_one(const struct elf_file *e);

/* NULL, or the reason why the interpreter is not supported (static text). */
const char *python_file_read(struct python_file *p, const struct elf_file *e);

#endif
