/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * waits FILE: waits in five ways, each in a function of its own, and prints how long each took
 * by the clock: "in_sleep 300123456". In in_competition() two threads want the same CPU, and
 * what is printed is the time in which the first one did not have it. FILE is written to.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
/* So that no call is the last thing that a function does: it would not be on the stack. */
#define STAY() __asm__ volatile("" ::: "memory")

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipe_fds[2];

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

NOINLINE void in_sleep(void)
{
	for (int i = 0; i < 10; i++)
		sleep_ms(30);
	STAY();
}

static void *hold_mutex(void *context)
{
	pthread_setname_np(pthread_self(), "holder");
	pthread_mutex_lock(&mutex);
	pthread_barrier_wait(context);
	sleep_ms(300);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

NOINLINE void in_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	STAY();
}

static void *write_late(void *context)
{
	pthread_setname_np(pthread_self(), "writer");
	sleep_ms(300);
	if (write(pipe_fds[1], "x", 1) != 1)
		exit(1);
	return NULL;
}

NOINLINE void in_pipe(void)
{
	char byte;

	if (read(pipe_fds[0], &byte, 1) != 1)
		exit(1);
	STAY();
}

NOINLINE void in_disk(int fd)
{
	static char block[1 << 16];

	for (int i = 0; i < 20; i++) {
		memset(block, i, sizeof(block));
		if (pwrite(fd, block, sizeof(block), (off_t)i << 16) < 0 || fdatasync(fd))
			exit(1);
	}
	STAY();
}

static void spin(uint64_t cpu_ns)
{
	uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void *compete(void *context)
{
	pthread_barrier_wait(context);
	spin(300000000);
	return NULL;
}

NOINLINE void in_competition(void)
{
	spin(300000000);
	STAY();
}

static void tell(const char *name, uint64_t ns)
{
	printf("%s %llu\n", name, (unsigned long long)ns);
}

#define TIMED(name, call)                                                                          \
	do {                                                                                       \
		uint64_t begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID), wall;   \
                                                                                                   \
		call;                                                                              \
		cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;                                          \
		wall = now(CLOCK_MONOTONIC) - begin;                                               \
		/* An emulator's clocks may differ by more than the wait. */                       \
		tell(name, wall > cpu ? wall - cpu : 0);                                           \
	} while (0)

int main(int argc, char **argv)
{
	pthread_barrier_t barrier;
	pthread_t other;
	cpu_set_t one;
	int fd = open(argv[1], O_RDWR | O_CREAT, 0600);

	if (fd < 0 || pipe(pipe_fds))
		return 1;
	pthread_barrier_init(&barrier, NULL, 2);
	TIMED("in_sleep", in_sleep());

	pthread_create(&other, NULL, hold_mutex, &barrier);
	pthread_barrier_wait(&barrier);
	TIMED("in_mutex", in_mutex());
	pthread_join(other, NULL);

	pthread_create(&other, NULL, write_late, NULL);
	TIMED("in_pipe", in_pipe());
	pthread_join(other, NULL);

	TIMED("in_disk", in_disk(fd));

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	pthread_create(&other, NULL, compete, &barrier);
	pthread_barrier_wait(&barrier);
	TIMED("in_competition", in_competition());
	pthread_join(other, NULL);
	return 0;
}
