/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/shortage.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static _Thread_local int noted;

bool shortage_is(int os_error)
{
	return os_error == ENOMEM || os_error == EMFILE || os_error == ENFILE || os_error == EIO ||
	       os_error == EINTR;
}

const char *shortage_text(int os_error)
{
	return os_error == ENOMEM ? "out of memory" : strerror(os_error);
}

void shortage_note(int os_error)
{
	if (!noted && shortage_is(os_error))
		noted = os_error;
}

void *shortage_check(void *memory)
{
	if (!memory)
		shortage_note(ENOMEM);
	return memory;
}

int shortage_take(void)
{
	int taken = noted;

	noted = 0;
	return taken;
}
