/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/system/elf_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever the file says, symbols lie within it, in order, and end where the next one begins or
 * before. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_symbols symbols;
	struct elf_file file;

	if (elf_file_open_memory(&file, data, size))
		return 0;
	if (!error_ignore(elf_symbols_read(&symbols, &file))) {
		for (size_t i = 0; i < symbols.n; i++) {
			const struct elf_symbol *s = &symbols.symbols[i];
			uint64_t end;

			if (s->start > size || s->size > size - s->start)
				__builtin_trap();
			if (i && symbols.symbols[i - 1].start > s->start)
				__builtin_trap();
			end = elf_symbols_end(&symbols, i);
			if (end < s->start || end > s->start + s->size ||
			    (i + 1 < symbols.n && end > s[1].start))
				__builtin_trap();
		}
		elf_symbols_named(&symbols, "main");
		elf_symbols_release(&symbols);
	}
	elf_file_release(&file);
	return 0;
}
