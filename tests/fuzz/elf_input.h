/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_FUZZ_ELF_INPUT_H
#define TESTS_FUZZ_ELF_INPUT_H

#include <stdlib.h>
#include <string.h>

#include "common/elf_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Calls `read` with the bytes as a file, if they are one. They have a place of their own, so that
 * one too far is seen.
 */
static inline void elf_input(const uint8_t *data, size_t size,
			     void (*read)(const struct elf_file *file))
{
	uint8_t *bytes = malloc(size + !size);
	struct elf_file file;

	if (size)
		memcpy(bytes, data, size);
	if (!elf_file_open_memory(&file, bytes, size)) {
		read(&file);
		elf_file_release(&file);
	}
	free(bytes);
}

#endif
