/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program of `make demo`: searches amicable pairs (two numbers, each the sum of the other's
 * proper divisors) below 65,536, in a few threads and call levels, again and again until it is
 * interrupted or its seconds are over.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIMIT 65536u
#define THREADS 3

static atomic_bool stop;
static atomic_uint rounds;
static atomic_uint pairs;

static void on_alarm(int number)
{
	stop = true;
}

static __attribute__((noinline)) unsigned int proper_divisor_sum(unsigned int n)
{
	unsigned int sum = 1;

	for (unsigned int d = 2; d * d <= n; d++) {
		if (n % d)
			continue;
		sum += d;
		if (d * d != n)
			sum += n / d;
	}
	return n > 1 ? sum : 0;
}

static __attribute__((noinline)) unsigned int partner_of(unsigned int n)
{
	unsigned int partner = proper_divisor_sum(n);

	return partner > n && partner < LIMIT && proper_divisor_sum(partner) == n ? partner : 0;
}

static __attribute__((noinline)) unsigned int count_pairs(unsigned int from, unsigned int to)
{
	unsigned int found = 0;

	for (unsigned int n = from; n < to && !stop; n++)
		if (partner_of(n))
			found++;
	return found;
}

static void *search(void *argument)
{
	unsigned int part = (unsigned int)(size_t)argument;
	unsigned int width = LIMIT / THREADS + 1;

	while (!stop) {
		unsigned int to = (part + 1) * width;

		pairs += count_pairs(part * width, to < LIMIT ? to : LIMIT);
		rounds++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	signal(SIGALRM, on_alarm);
	alarm(argc > 1 ? (unsigned int)atoi(argv[1]) : 5);
	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, search, (void *)i))
			return 1;
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%u rounds, %u pairs\n", rounds, pairs);
	return 0;
}
