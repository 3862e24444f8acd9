/* SPDX-License-Identifier: GPL-2.0-or-later */

/* An extension as Python programs use them: it is called, and calls back. */

void mark(void);
int call_back(int (*function)(int), int depth);

void __attribute__((noinline)) mark(void)
{
	__asm__ volatile("");
}

int __attribute__((noinline)) call_back(int (*function)(int), int depth)
{
	int result = function(depth);

	__asm__ volatile(""); /* not a tail call: this frame is to be seen */
	return result + 1;
}
