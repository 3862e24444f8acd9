/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SYMBOLS_KERNEL_MODULES_H
#define RECORD_SYMBOLS_KERNEL_MODULES_H

/* The modules of the kernel: where they are, and their build-ids. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "format/prf.h"

#define KERNEL_MODULES_MAX (UINT16_MAX - 1)

struct kernel_module {
	const char *name;
	uint64_t base;
	uint64_t size; /* 0: not known */
	uint8_t build_id[PRF_BUILD_ID_MAX];
	uint8_t build_id_size;
	bool listed; /* false: `base` is that of its first symbol */
	bool looked; /* for its build-id */
};

/* Starts as { 0 }. */
struct kernel_modules {
	struct kernel_module *modules;
	size_t n, capacity;
	struct arena names;
};

void kernel_modules_release(struct kernel_modules *m);

/* The number of the module, where it was found last; `n` if there is none of that name. */
size_t kernel_modules_index(const struct kernel_modules *m, const char *name);

/* Whether the address is in it, as far as is known. */
bool kernel_modules_holds(const struct kernel_modules *m, const char *name, uint64_t address);

/* All that add are false without memory; beyond KERNEL_MODULES_MAX they add nothing. */
bool kernel_modules_add(struct kernel_modules *m, const char *name, uint64_t base, bool listed);

/*
 * Adds what is new in text in the format of /proc/modules, which is changed: modules that are not
 * known, or that were elsewhere.
 */
bool kernel_modules_parse(struct kernel_modules *m, char *text);

/* Adds those of the running kernel in the same way. */
bool kernel_modules_read(struct kernel_modules *m);

/* Of a module of the running kernel, once. */
void kernel_module_read_build_id(struct kernel_module *module);

/* From notes such as /sys/kernel/notes. Its size; 0: none. */
uint8_t kernel_build_id(const char *path, uint8_t build_id[PRF_BUILD_ID_MAX]);

#endif
