/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SCRIPTS_PYTHON_LINES_H
#define RECORD_SCRIPTS_PYTHON_LINES_H

/*
 * Which source line an instruction of CPython bytecode belongs to, by the table of its code object.
 * The formats are those of CPython's Objects/lnotab_notes.txt (3.8 to 3.10) and of "Locations
 * table" in its InternalDocs/code_objects.md (3.11 on). The bytes come from a process that is not
 * trusted.
 */

#include <stddef.h>
#include <stdint.h>

#include "record/scripts/python_file.h"

struct python_lines {
	enum python_table kind;
	const uint8_t *bytes;
	size_t size;
	uint32_t first; /* line of the code object */
};

/* The line at a code unit (2 bytes of bytecode); 0: it has none, or the table ends before it. */
uint32_t python_lines_at(const struct python_lines *t, uint32_t unit);

#endif
