/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/php_file.h"
#include "tests/fuzz/elf_input.h"

/* A file that may hold an interpreter. */
static void read_file(const struct elf_file *file)
{
	struct php_process php;

	if (php_file_is_one(file))
		php_file_read(&php, file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	elf_input(data, size, read_file);
	return 0;
}
