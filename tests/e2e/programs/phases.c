/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * usage: phases ROUNDS MILLISECONDS
 *
 * In each round one thread works in serial() for so long, and then two work in parallel() for as
 * long; the first one waits meanwhile.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static double seconds;
static volatile unsigned long done;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static __attribute__((noinline)) void serial(void)
{
	double end = now() + seconds;

	while (now() < end)
		for (int i = 0; i < 20000; i++)
			done += (unsigned long)i;
}

static __attribute__((noinline)) void *parallel(void *argument)
{
	double end = now() + seconds;
	volatile unsigned long sum = 0;

	while (now() < end)
		for (int i = 0; i < 20000; i++)
			sum += (unsigned long)i;
	return argument;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0;
	pthread_t threads[2];

	seconds = argc > 2 ? atof(argv[2]) / 1000 : 0;
	while (rounds-- > 0) {
		serial();
		for (int i = 0; i < 2; i++)
			if (pthread_create(&threads[i], NULL, parallel, NULL))
				return 1;
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}
