/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A library for `shapes dlopen`: its function is named for its NUMBER (and exported: build-ids
   do not tell libraries apart that differ in local names only). */
#define JOIN(a, b, c) a##b##c
#define NAMED(n) JOIN(plugin_, n, _)

static volatile long sink;

__attribute__((noinline)) void NAMED(NUMBER)(long n)
{
	for (long i = 0; i < n; i++)
		sink += i;
}

void work(long n)
{
	NAMED(NUMBER)(n);
	sink++;
}
