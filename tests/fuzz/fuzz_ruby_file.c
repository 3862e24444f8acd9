/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/ruby_file.h"
#include "tests/fuzz/elf_input.h"

/* A file that may hold an interpreter. */
static void read_file(const struct elf_file *file)
{
	struct ruby_process ruby;

	if (ruby_file_is_one(file))
		ruby_file_read(&ruby, file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	elf_input(data, size, read_file);
	return 0;
}
