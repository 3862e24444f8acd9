/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_KERNEL_NAME_H
#define RECORD_SYMBOLS_KERNEL_NAME_H

/*
 * Names of single addresses of the kernel, asked for by a BPF program: most recordings hit some
 * hundred of the hundred thousand functions that /proc/kallsyms lists.
 */

#include <stdbool.h>
#include <stdint.h>

struct kernel_names;

/* What is at an address. The texts point into what was parsed. */
struct kernel_name {
	const char *name;
	const char *module; /* NULL: the kernel itself */
	uint64_t start;
	uint32_t size;
};

/* NULL if this kernel, or its settings, do not allow it. */
struct kernel_names *kernel_names_new(void);
void kernel_names_free(struct kernel_names *n);

/* False if the kernel has no name for it. Valid until the next call. */
bool kernel_names_find(struct kernel_names *n, uint64_t address, struct kernel_name *found);

/* Takes the answer "name+0x12/0x340 [module]" apart, in place. False, and no name, if it is none.
 */
bool kernel_name_parse(char *answer, uint64_t address, struct kernel_name *found);

#endif
