/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_UNWIND_UNWINDER_MAPPING_H
#define RECORD_UNWIND_UNWINDER_MAPPING_H

#include <stddef.h>
#include <stdint.h>

/*
 * An executable mapping appeared; it replaces what it overlaps. `path` is as the process
 * sees it: "[vdso]" for the vDSO, and "" or something in brackets or beginning with "//"
 * for memory without a file. Everything is copied.
 */
struct unwinder_mapping {
	uint32_t pid; /* tgid in the initial pid namespace */
	uint64_t start, end, file_offset;
	const char *path;
	const uint8_t *build_id; /* NULL, or build_id_size bytes as the kernel reported them */
	size_t build_id_size;
};

#endif
