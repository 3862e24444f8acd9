/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_COMPLETION_H
#define COMMON_COMPLETION_H

/*
 * Completion scripts for shells, made from the same table as --help. They complete options and
 * what an option's `values` names; where the argument's text has a comma in its name ("PID,..."),
 * several values joined by commas. A script is what the shell expects in its own folder of
 * completions, in a file named after the program.
 */

#include "common/option_table.h"

#include <stdbool.h>

/* Of "bash", "zsh" and "fish", to standard output. False: no such shell. */
bool completion_print(const struct options *o, const char *shell);

#endif
