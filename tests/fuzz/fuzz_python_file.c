/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/python_file.h"
#include "tests/fuzz/elf_input.h"

/* A file that may hold an interpreter. */
static void read_file(const struct elf_file *file)
{
	struct python_file python;

	if (python_file_is_one(file))
		python_file_read(&python, file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	elf_input(data, size, read_file);
	return 0;
}
