/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/merge/name_match.h"

#include "common/shortage.h"

#include <errno.h>
#include <stddef.h>

bool name_matches(const regex_t *regex, const char *name)
{
	int error;

	/* For glibc's regexec() a lack of memory is REG_NOMATCH, too. */
	errno = 0;
	error = regexec(regex, name, 0, NULL, 0);
	if (error == REG_ESPACE || (error && errno == ENOMEM))
		shortage_note(ENOMEM);
	return !error;
}
