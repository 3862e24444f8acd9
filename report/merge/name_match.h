/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_NAME_MATCH_H
#define REPORT_MERGE_NAME_MATCH_H

/* Names and the regular expressions of the command line. */

#include <regex.h>
#include <stdbool.h>

/*
 * Whether an expression matches a name. Without memory it does not, which is noted
 * (common/shortage.h): whoever compares names takes the note, as one that is missing is no answer.
 */
bool name_matches(const regex_t *regex, const char *name);

#endif
