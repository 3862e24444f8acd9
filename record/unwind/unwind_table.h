/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_UNWIND_TABLE_H
#define RECORD_UNWIND_UNWIND_TABLE_H

/*
 * One file's unwind table, in the form of bpf/abi/unwind.h but with rule numbers of its own:
 * from the unwind information of all its executable segments (.eh_frame, and .debug_frame
 * that is not compressed or is with zlib, here or in the separate debug file), from the shape of
 * some code that is known to have none, and for all other code from what its instructions do to the
 * stack (record/unwind/code_analysis.h). Once built, the table needs the file no more.
 */

#include <stdbool.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "common/elf_file.h"
#include "record/unwind/unwind_rules.h"

enum unwind_table_error {
	UNWIND_TABLE_OK = 0,
	UNWIND_TABLE_NO_CODE = -1, /* no executable segment, or of another processor */
	UNWIND_TABLE_NO_INFO = -2, /* no unwind information at all */
	UNWIND_TABLE_TOO_LARGE = -3,
	UNWIND_TABLE_MEMORY = -4,
	UNWIND_TABLE_STOPPED = -5,
	UNWIND_TABLE_LIMIT = -6, /* LIMIT_HANDLER_SEARCHES of common/limits.h */
};

/* Text for a message: static. */
const char *unwind_table_error_text(enum unwind_table_error error);

struct table_page {
	uint32_t first; /* index in `rows` */
	uint32_t rows;	/* 0: no table for any of its code */
};

/* Which addresses a mapping of the file holds: file offset -> link-time address. */
struct table_segment {
	uint64_t offset, address, size;
};

#define TABLE_SEGMENTS_MAX 8

struct unwind_table {
	uint64_t base; /* link-time address of the first page */
	struct table_page *pages;
	uint32_t page_count;
	uint32_t *rows; /* low 16 bits of the address << 16 | rule in `rules` */
	size_t row_count, row_capacity;
	struct rule_set rules;
	struct table_segment segments[TABLE_SEGMENTS_MAX];
	uint32_t segment_count;
};

struct unwind_source {
	const struct elf_file *file;
	const struct elf_file *debug; /* its separate debug file, or NULL */
	size_t max_rows;
	const atomic_bool *stop; /* ends the work early when another thread sets it; may be NULL */
};

/* 0 or an enum unwind_table_error. On failure the table is empty except for `segments`. */
int unwind_table_build(struct unwind_table *t, const struct unwind_source *source);
void unwind_table_release(struct unwind_table *t);

#endif
