/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Spends its time with stacks of known shapes: stacks SHAPE MILLISECONDS. Counts its own CPU
 * time, so that a busy machine makes it slower but not different.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <sys/time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

volatile long sink;
static double limit_ms;

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

KEEP void leaf(void)
{
	double end = cpu_ms() + limit_ms;

	do
		for (int i = 0; i < 200000; i++)
			sink += i;
	while (cpu_ms() < end);
}

KEEP void middle(void)
{
	leaf();
	sink++;
}

KEEP void outer(void)
{
	char room[200];

	memset(room, (int)sink, sizeof(room));
	middle();
	sink += room[3];
}

/* A frame whose size only the running program knows. */
KEEP void sized(int n)
{
	char room[n];

	memset(room, 1, (size_t)n);
	outer();
	sink += room[n / 2];
}

/* A frame that is aligned to more than the ABI asks for. */
KEEP void aligned(void)
{
	char room[128] __attribute__((aligned(64)));

	memset(room, 1, sizeof(room));
	outer();
	sink += room[5];
}

KEEP void recurse(int depth)
{
	volatile int here = depth;

	if (depth == 0)
		leaf();
	else
		recurse(here - 1);
	sink += here;
}

static void on_signal(int number)
{
	leaf();
	sink++;
}

KEEP void interrupted(void)
{
	raise(SIGUSR1);
	sink++;
}

static volatile sig_atomic_t over;

static void on_alarm(int number)
{
	leaf();
	over = 1;
}

/* Has no frame: where a call leaves the return address in a register, it is still there. */
KEEP void frameless(void)
{
	while (!over)
		sink++;
}

KEEP void waits_for_alarm(void)
{
	struct itimerval soon = { .it_value.tv_usec = 10000 };

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	frameless();
	sink++;
}

static void *thread(void *context)
{
	outer();
	return NULL;
}

static void child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		outer();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void library(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);
	void (*call)(void (*)(void)) = handle ? (void (*)(void (*)(void)))dlsym(handle, "call_back")
					      : NULL;

	if (!call)
		exit(3);
	call(outer);
}

int main(int argc, char **argv)
{
	const char *shape = argc > 1 ? argv[1] : "outer";
	pthread_t threads[2];

	limit_ms = argc > 2 ? atof(argv[2]) : 500;
	if (argc > 3 && strcmp(argv[3], "wait") == 0)
		usleep(300000);
	if (strcmp(shape, "outer") == 0) {
		outer();
	} else if (strcmp(shape, "sized") == 0) {
		sized(1000 + argc);
	} else if (strcmp(shape, "aligned") == 0) {
		aligned();
	} else if (strncmp(shape, "deep", 4) == 0) {
		recurse(atoi(shape + 4));
	} else if (strcmp(shape, "signal") == 0) {
		signal(SIGUSR1, on_signal);
		interrupted();
	} else if (strcmp(shape, "alarm") == 0) {
		waits_for_alarm();
	} else if (strcmp(shape, "threads") == 0) {
		for (int i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, thread, NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
	} else if (strcmp(shape, "fork") == 0) {
		child();
	} else if (strcmp(shape, "exec") == 0) {
		execl("/proc/self/exe", argv[0], "outer", argc > 2 ? argv[2] : "500", NULL);
	} else {
		library(shape);
	}
	return sink == 42;
}
