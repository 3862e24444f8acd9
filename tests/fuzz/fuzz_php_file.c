/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/php_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file that may hold an interpreter. Its bytes have a place of their own, so that one too far is
 * seen. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size + !size);
	struct php_process php;
	struct elf_file file;

	if (size)
		memcpy(bytes, data, size);
	if (!elf_file_open_memory(&file, bytes, size)) {
		if (php_file_is_one(&file))
			php_file_read(&php, &file);
		elf_file_release(&file);
	}
	free(bytes);
	return 0;
}
