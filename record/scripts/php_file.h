/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_SCRIPTS_PHP_FILE_H
#define RECORD_SCRIPTS_PHP_FILE_H

/*
 * What a file that holds a PHP interpreter says of it: a program (php, php-fpm) or a library that
 * others embed. It is recognised by its symbols, whatever the file is called; where its functions
 * have which field is known of each version, and has to agree with its code. All that is read is
 * hostile, and none of it can lead the kernel half further than to an address in that process.
 */

#include <stdbool.h>

#include "bpf/abi/php.h"
#include "common/elf_file.h"

/* Whether the file holds an interpreter; called for each file. */
bool php_file_is_one(const struct elf_file *e);

/* With link-time addresses. NULL, or the reason why it is not supported (static text). */
const char *php_file_read(struct php_process *p, const struct elf_file *e);

#endif
