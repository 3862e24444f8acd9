/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Calls functions that the dynamic linker has to find each time: lazy SHAPE MILLISECONDS. The
 * program is linked with -z lazy; where its linkage table leads to is put back to what it was at
 * the start.
 */

#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEP __attribute__((noinline, noclone))
#define ENTRIES 64

static void **table[ENTRIES], *unresolved[ENTRIES];
static size_t entries;
volatile long sink;

static void find_table(void)
{
	const ElfW(Rela) *relocations = NULL;
	size_t size = 0, base = _r_debug.r_map->l_addr;

	for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_JMPREL)
			relocations = (const void *)d->d_un.d_ptr;
		else if (d->d_tag == DT_PLTRELSZ)
			size = d->d_un.d_val;
	}
	for (size_t i = 0; i < size / sizeof(*relocations) && i < ENTRIES; i++) {
		table[i] = (void **)(base + relocations[i].r_offset);
		unresolved[i] = *table[i];
		entries = i + 1;
	}
}

KEEP void calls_lazily(void)
{
	for (size_t i = 0; i < entries; i++)
		*table[i] = unresolved[i];
	sink += labs(sink) + atoi("1") + (long)strlen((const char *)table);
}

/* What main() calls is resolved below a function of its own. */
KEEP static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

KEEP static int milliseconds(int argc, char **argv)
{
	sink = argc > 2 ? atoi(argv[2]) : 1000; /* no jump to atoi() */
	return (int)sink;
}

int main(int argc, char **argv)
{
	double end;

	find_table();
	end = cpu_ms() + milliseconds(argc, argv);
	do
		for (int i = 0; i < 100; i++)
			calls_lazily();
	while (cpu_ms() < end);
	return 0;
}
