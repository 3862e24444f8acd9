/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SCRIPTS_SCRIPT_FILE_H
#define RECORD_SCRIPTS_SCRIPT_FILE_H

/* The languages whose interpreters are known, by the files that hold these. */

#include <stdbool.h>

#include "bpf/abi/script.h"
#include "common/elf_file.h"

struct script_language {
	enum script_runtime runtime;
	const char *name;
	/* Whether the file holds an interpreter; called for each file. */
	bool (*is_one)(const struct elf_file *e);
	/* Fills in the parameters: link-time addresses. NULL, or why it cannot (static text). */
	const char *(*read)(struct script_process *process, const struct elf_file *e);
};

/* The language of the interpreter that the file holds; NULL: it holds none. Static. */
const struct script_language *script_file_language(const struct elf_file *e);

#endif
