/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Call frame information: the first byte says whether the rest is a bare section (0
 * .eh_frame, 1 .debug_frame) or a whole ELF file, from which a table is built.
 */

#include <stdlib.h>

#include "record/unwind/cfi.h"
#include "record/unwind/unwind_table.h"

#define MAX_ROWS 100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct check {
	const struct cfi_fde *fde;
	uint64_t last;
};

static void check_row(void *context, uint64_t address, const struct cfi_row *row)
{
	struct check *check = context;

	unwind_rule_from_row(row);
	/* Rows go forward and stay within their FDE. */
	if (address < check->last || address >= cfi_fde_end(check->fde))
		abort();
	check->last = address;
}

static void run_section(const uint8_t *data, size_t size, bool debug_frame)
{
	struct cfi cfi;

	cfi_open(&cfi, cursor_over(data, size), 0x1000, debug_frame);
	for (size_t i = 0; i < cfi.fde_count; i++) {
		struct check check = { &cfi.fdes[i], cfi.fdes[i].start };

		if (i && cfi.fdes[i].start < cfi.fdes[i - 1].start)
			abort();
		cfi_run(&cfi, &cfi.fdes[i], check_row, &check);
	}
	cfi_release(&cfi);
}

static void run_file(const uint8_t *data, size_t size)
{
	struct unwind_table t;
	struct elf_file e;

	if (elf_file_open_memory(&e, data, size))
		return;
	if (!unwind_table_build(&t, &(struct unwind_source){ .file = &e, .max_rows = MAX_ROWS })) {
		if (t.row_count > MAX_ROWS)
			abort();
		for (uint32_t i = 0; i < t.page_count; i++) {
			const struct table_page *page = &t.pages[i];

			for (uint32_t row = 1; row < page->rows; row++)
				if (t.rows[page->first + row] >> 16 <=
				    t.rows[page->first + row - 1] >> 16)
					abort();
			if (page->rows && t.rows[page->first] >> 16)
				abort();
		}
	}
	unwind_table_release(&t);
	elf_file_release(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] < 2)
		run_section(data + 1, size - 1, data[0]);
	else
		run_file(data + 1, size - 1);
	return 0;
}
