/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that are large and cost nothing: an ELF file, into whose holes the input writes. The input
 * is a list of pieces: a byte for how far the offset is shifted, two for the offset, one for the
 * length, and so many bytes. What the recorder reads of a target's file ends soon whatever it says.
 */

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cursor.h"
#include "common/elf_file.h"
#include "record/system/elf_symbols.h"
#include "record/unwind/unwind_table.h"

#define FILE_BYTES ((off_t)1 << 40)
#define MAX_ROWS 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fill(int fd, struct cursor c)
{
	while (cursor_left(&c)) {
		unsigned int shift = cursor_u8(&c) % 24;
		off_t offset = (off_t)cursor_u16(&c) << shift;
		size_t length = cursor_u8(&c);
		const void *bytes;

		if (length > cursor_left(&c))
			length = cursor_left(&c);
		bytes = cursor_bytes(&c, length);
		if (!cursor_ok(&c))
			return;
		if (length && pwrite(fd, bytes, length, offset) != (ssize_t)length)
			abort();
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
	int fd = memfd_create("file", MFD_CLOEXEC);
	struct elf_file file;

	if (fd < 0)
		abort();
	fill(fd, cursor_over(data, size));
	if (ftruncate(fd, FILE_BYTES))
		abort();
	if (!elf_file_open(&file, fd)) {
		read_all(&file);
		elf_file_release(&file);
	}
	close(fd);
	return 0;
}
