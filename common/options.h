/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

/*
 * Command lines from a table. One table drives parsing, --help and completion, and a
 * test compares it with the manual page. Short options may be joined (-qv) and may carry
 * their argument (-F99); long ones take --name=ARG or --name ARG, and may be cut short
 * where that is clear.
 */

#include "common/option_table.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether to go on, or else the program's exit status. */
enum options_result {
	OPTIONS_OK = -1,
	OPTIONS_DONE = 0,   /* --help and the like were printed */
	OPTIONS_FAILED = 1, /* without memory, which was said on stderr */
	OPTIONS_WRONG = 2,  /* said what is wrong on stderr */
};

/*
 * Parses until the end, "--", or the command. What is no option is moved, in order, to the front of
 * `rest` (room for argc pointers) and counted in `rest_count`; `command` gets the first
 * argument after "--", or NULL.
 */
enum options_result options_parse(const struct options *o, int argc, char **argv, char **rest,
				  int *rest_count, char ***command);

/* Numbers for take(): the whole text must be one, within [low, high]. */
bool option_number(const char *text, unsigned long long low, unsigned long long high,
		   unsigned long long *value);
/* "64K", "1M", "2G" or bytes. */
bool option_size(const char *text, unsigned long long *bytes);
/* "10", "1.5s", "100ms", "20us", "7ns", "2m", "1h" to ns; a bare number counts in `unit_ns`. */
bool option_duration(const char *text, unsigned long long unit_ns, unsigned long long *ns);

#endif
