/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_DWARF_DEBUG_SECTIONS_H
#define REPORT_DWARF_DEBUG_SECTIONS_H

/*
 * The DWARF sections of an ELF file, unpacked where they are compressed (SHF_COMPRESSED
 * with zlib or zstd, or .zdebug_...). A section whose claimed size its bytes cannot justify
 * counts as absent, and so does one beyond the limits of common/limits.h.
 *
 * Not by libelf, which takes 2.3 times as long for zlib (a whole report 1.3 times), cannot unpack
 * zstd before 0.189, and writes into the file's bytes: bench/README.md.
 */

#include <stdbool.h>

#include "common/elf_file.h"
#include "report/dwarf/dwarf_unit.h"

struct debug_sections {
	struct dwarf dwarf;
	void *unpacked[DWARF_SECTIONS]; /* ours, or NULL */
	uint64_t unpacked_bytes;
};

/* True when the file has DWARF: for a .dwo or .dwp file with `split`. */
bool debug_sections_present(const struct elf_file *e, bool split);

/*
 * Fills `dwarf.section` and indexes the units; the file must stay open. `code` is the file
 * whose segments say where code is, usually `e` itself. 0, or -1 when there is no DWARF or no
 * memory; then nothing needs to be released.
 */
int debug_sections_load(struct debug_sections *s, const struct elf_file *e,
			const struct elf_file *code, bool split);
void debug_sections_release(struct debug_sections *s);

/*
 * The unpacked form of .gnu_debugdata: an ELF file in xz. NULL when there is none or it is
 * damaged; to be freed.
 */
uint8_t *debug_sections_mini(const struct elf_file *e, size_t *size);

#endif
