/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SCRIPTS_SCRIPT_MEMORY_H
#define RECORD_SCRIPTS_SCRIPT_MEMORY_H

/*
 * The kernel half cannot read memory that is paged out, and has little room. The rest is read from
 * the process later, when the code object may have been freed and another one allocated in its
 * place. So the object's identity is checked before and after reading, with the same code as in the
 * kernel half.
 */

#include "bpf/abi/script.h"
#include "record/runtimes/target_memory.h"

/*
 * Reads up to `most` first bytes of a text of the code object, and completes `text`. Returns the
 * number of bytes; 0: the process or that code object is gone.
 */
size_t script_memory_text(const struct target_memory *memory, const struct script_process *p,
			  const struct script_name *name, struct script_text *text, void *to,
			  size_t most);

#endif
