/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/javascript/v8_builtins.h"
#include "record/javascript/v8_file.h"
#include "tests/fuzz/elf_input.h"

/* A file that may hold V8. */
static void read_file(const struct elf_file *file)
{
	struct v8_builtins builtins;
	struct v8_file v8;

	if (v8_file_is_one(file))
		v8_file_read(&v8, file);
	if (v8_builtins_find(&builtins, file) && builtins.entry_size > UINT64_MAX - builtins.entry)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	elf_input(data, size, read_file);
	return 0;
}
