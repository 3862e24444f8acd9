/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DWARF_DWARF_LINE_H
#define REPORT_DWARF_DWARF_LINE_H

/*
 * The line table of a unit. Its program is run once, and the addresses of interest, which
 * are sorted, get their line on the way; no table of rows is kept.
 */

#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "report/dwarf/dwarf_unit.h"

struct line_file {
	const char *name;
	uint64_t directory;
	const char *path; /* as it was put together, or NULL */
};

struct line_row {
	uint32_t file; /* for line_table_path() */
	uint32_t line; /* 0: the code belongs to no line */
	int found;
};

struct line_table {
	const struct dwarf_unit *unit;
	uint16_t version;
	const char **directories;
	size_t directory_count, directory_capacity;
	struct line_file *files;
	size_t file_count, file_capacity;
	struct cursor program;
	uint8_t instruction_length, default_is_stmt;
	int8_t line_base;
	uint8_t line_range, opcode_base;
	uint8_t opcode_lengths[256];
};

/*
 * Reads the header of the line table of a prepared unit. 0, or -1: there is none, or it is
 * damaged; then there is nothing to release.
 */
int line_table_open(struct line_table *t, const struct dwarf_unit *u);
void line_table_release(struct line_table *t);

/*
 * Runs the program. `rows[i]` is set for each of the `n` sorted addresses that has a row; the
 * others keep what they were. A damaged program gives what came before the damage.
 */
void line_table_find(struct line_table *t, const uint64_t *addresses, size_t n,
		     struct line_row *rows);

/* The path of a file number: as in `arena`, or "" when there is no such file. */
const char *line_table_path(struct line_table *t, uint64_t file, struct arena *arena);

#endif
