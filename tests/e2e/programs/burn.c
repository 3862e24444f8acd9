/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * burn MS [THREADS [PATH]]: each thread spends MS milliseconds of CPU time, 70 % of it in
 * seventy(), 20 % in twenty() and 10 % in ten(), by the clock and not by counting rounds. MS 0: for
 * ever. A PATH is removed first.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#define BURN(name)                                                                                 \
	__attribute__((noinline)) void name(uint64_t until)                                        \
	{                                                                                          \
		volatile uint64_t sum = 0;                                                         \
                                                                                                   \
		while (cpu_ns() < until)                                                           \
			for (uint64_t i = 0; i < 20000; i++)                                       \
				sum += i * i;                                                      \
	}

void seventy(uint64_t until);
void twenty(uint64_t until);
void ten(uint64_t until);
void *work(void *argument);

BURN(seventy)
BURN(twenty)
BURN(ten)

__attribute__((noinline)) void *work(void *argument)
{
	uint64_t ms = *(uint64_t *)argument, begin = cpu_ns(), at = begin;

	while (!ms || at - begin < ms * 1000000) {
		seventy(at + 7000000);
		twenty(at + 9000000);
		ten(at + 10000000);
		at = cpu_ns();
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
