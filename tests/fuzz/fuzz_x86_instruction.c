/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/unwind/x86_instruction.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No instruction is longer than what there is, nor than 15 bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t at = 0; at < size;) {
		struct x86_instruction i = x86_instruction_at(data + at, size - at);

		if (i.size > size - at || i.size > 15)
			__builtin_trap();
		at += i.size ? i.size : 1;
	}
	return 0;
}
