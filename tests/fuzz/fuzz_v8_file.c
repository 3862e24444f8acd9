/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/javascript/v8_builtins.h"
#include "record/javascript/v8_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file that may hold V8. Its bytes have a place of their own, so that one too far is seen. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size + !size);
	struct v8_builtins builtins;
	struct v8_file v8;
	struct elf_file file;

	if (size)
		memcpy(bytes, data, size);
	if (!elf_file_open_memory(&file, bytes, size)) {
		if (v8_file_is_one(&file))
			v8_file_read(&v8, &file);
		if (v8_builtins_find(&builtins, &file) &&
		    builtins.entry_size > UINT64_MAX - builtins.entry)
			__builtin_trap();
		elf_file_release(&file);
	}
	free(bytes);
	return 0;
}
