/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_RUNTIMES_PYTHON_MEMORY_H
#define RECORD_RUNTIMES_PYTHON_MEMORY_H

/*
 * The kernel half can not read what is not in memory at that moment, and has little room. The rest
 * is read from the process later, when its code object may be gone and another one be there; so
 * what tells them apart is compared before and afterwards, by the same code as in the kernel.
 */

#include "bpf/python.h"
#include "record/runtimes/target_memory.h"

/*
 * The first bytes of a text of the code object, as many as there are, at most `most`. Completes
 * `text`. The number of bytes; 0: the process is gone, or that code object is.
 */
size_t python_memory_text(const struct target_memory *memory, const struct python_process *p,
			  const struct script_name *name, struct script_text *text, void *to,
			  size_t most);

#endif
