/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the programs call that are made images of: stop() stops the process. */

#include <signal.h>

void stop(void);
int call_back(int (*function)(int), int depth);

void __attribute__((noinline)) stop(void)
{
	raise(SIGSTOP);
}

int __attribute__((noinline)) call_back(int (*function)(int), int depth)
{
	int result = function(depth);

	__asm__ volatile(""); /* not a tail call: this frame is to be seen */
	return result + 1;
}
