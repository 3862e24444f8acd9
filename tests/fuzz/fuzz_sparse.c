/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are large and cost nothing: an ELF file, into whose holes the input writes. The input
 * is a list of pieces: a byte for how far the offset is shifted, two for the offset, one for the
 * length, and so many bytes. What the recorder reads of a target's file ends soon whatever it says.
 *
 * The file is a mapping that is made once. Each input's pieces are taken out again.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/cursor.h"
#include "common/elf_file.h"
#include "record/system/elf_symbols.h"
#include "record/unwind/unwind_table.h"

#define FILE_BYTES ((size_t)1 << 40)
#define MAX_ROWS 65536
#define INPUTS 256 /* until pages that were only read are given back */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *make_holes(void)
{
	void *holes = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (holes == MAP_FAILED)
		abort();
	madvise(holes, FILE_BYTES, MADV_NOHUGEPAGE); /* unless the kernel has none */
	return holes;
}

static void fill(uint8_t *file, struct cursor c, bool zeros)
{
	while (cursor_left(&c)) {
		unsigned int shift = cursor_u8(&c) % 24;
		size_t offset = (size_t)cursor_u16(&c) << shift;
		size_t length = cursor_u8(&c);
		const void *bytes;

		if (length > cursor_left(&c))
			length = cursor_left(&c);
		bytes = cursor_bytes(&c, length);
		if (!cursor_ok(&c))
			return;
		if (zeros)
			memset(file + offset, 0, length);
		else
			memcpy(file + offset, bytes, length);
	}
}

static void read_all(const struct elf_file *file)
{
	struct elf_symbols symbols;
	struct unwind_table table;

	if (!error_ignore(elf_symbols_read(&symbols, file)))
		elf_symbols_release(&symbols);
	unwind_table_build(&table, &(struct unwind_source){ .file = file, .max_rows = MAX_ROWS });
	unwind_table_release(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t *holes;
	static unsigned int inputs;
	struct elf_file file;

	if (!holes)
		holes = make_holes();
	fill(holes, cursor_over(data, size), false);
	if (!elf_file_open_memory(&file, holes, FILE_BYTES)) {
		read_all(&file);
		elf_file_release(&file);
	}
	fill(holes, cursor_over(data, size), true);
	if (++inputs % INPUTS == 0 && madvise(holes, FILE_BYTES, MADV_DONTNEED))
		abort();
	return 0;
}
