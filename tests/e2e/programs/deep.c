/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * usage: deep DEPTH SECONDS [THREADS]
 *
 * Each thread recurses to the depth and works there for that many seconds of its CPU time. A byte
 * or the end of standard input lets them begin. Prints the CPU seconds that the kernel accounted
 * for the process.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_MAX 64

static int depth;
static double seconds;
static volatile unsigned long done;

static double clock_seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static __attribute__((noinline)) int descend(int left)
{
	volatile char here = (char)left;
	double end;

	if (left > 1)
		return descend(left - 1) + here;
	end = clock_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
	while (clock_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 20000; i++)
			done += (unsigned long)i;
	return here;
}

static void *run(void *unused)
{
	descend(depth);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 3 ? atoi(argv[3]) : 1;
	pthread_t others[THREADS_MAX];

	depth = atoi(argv[1]);
	seconds = atof(argv[2]);
	getchar();
	for (int i = 1; i < threads && i < THREADS_MAX; i++)
		pthread_create(&others[i], NULL, run, NULL);
	run(NULL);
	for (int i = 1; i < threads && i < THREADS_MAX; i++)
		pthread_join(others[i], NULL);
	printf("%.6f\n", clock_seconds(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
