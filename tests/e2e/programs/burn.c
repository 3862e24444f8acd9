/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * burn MS [THREADS [PATH]]: each thread spends MS milliseconds of CPU time, 70 % of it in
 * seventy(), 20 % in twenty() and 10 % in ten(), by the clock and not by counting rounds. MS 0: for
 * ever. A PATH is removed first.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "burning.h"

#define CLOCK CLOCK_THREAD_CPUTIME_ID

void seventy(uint64_t until);
void twenty(uint64_t until);
void ten(uint64_t until);
void *work(void *argument);

BURN(seventy, CLOCK)
BURN(twenty, CLOCK)
BURN(ten, CLOCK)

__attribute__((noinline)) void *work(void *argument)
{
	uint64_t ms = *(uint64_t *)argument, begin = clock_ns(CLOCK), at = begin;

	while (!ms || at - begin < ms * 1000000) {
		seventy(at + 7000000);
		twenty(at + 9000000);
		ten(at + 10000000);
		at = clock_ns(CLOCK);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	long n = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));

	if (argc > 3 && unlink(argv[3]))
		return 1;
	for (long i = 1; i < n; i++)
		if (pthread_create(&threads[i], NULL, work, &ms))
			return 1;
	work(&ms);
	for (long i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
