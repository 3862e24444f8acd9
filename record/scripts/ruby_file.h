/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SCRIPTS_RUBY_FILE_H
#define RECORD_SCRIPTS_RUBY_FILE_H

/*
 * What a file that holds a Ruby interpreter says of it: where it keeps the state of threads, the
 * table of symbols and its evaluation loop. An interpreter is recognised by its symbols, whatever
 * the file is called. Where its structures have which field is known of each version. All that is
 * read is hostile, and none of it can lead the kernel half further than to an address in that
 * process.
 */

#include <stdbool.h>

#include "bpf/abi/ruby.h"
#include "common/elf_file.h"

/* Whether the file holds an interpreter; called for each file. */
bool ruby_file_is_one(const struct elf_file *e);

/* With link-time addresses. NULL, or the reason why it is not supported (static text). */
const char *ruby_file_read(struct ruby_process *p, const struct elf_file *e);

#endif
