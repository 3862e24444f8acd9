/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * shapes SHAPE N [FILE...]: processes, threads and stacks that come and go.
 *
 *   jump      longjmp() over ten frames, N ms of CPU time
 *   altstack  a signal handler on a stack of its own, every 2 ms, N ms of CPU time
 *   execs     a chain of N execs, 10 ms of it each
 *   spawn     N children, by posix_spawn() and vfork() in turn, 10 ms each
 *   threads   N threads, 50 ms each
 *   dlopen    TIMES LIBRARY...: calls work() of one library after the other N times, and unloads
 *             each, so that the next may take its place; writes "INDEX FROM TO" (ns) for each
 *   burn      10 ms of work
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile long sink;
static long long deadline;
static jmp_buf back;
static char *self;

static long long time_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long spent(void)
{
	return time_of(CLOCK_THREAD_CPUTIME_ID);
}

__attribute__((noinline)) static void burn(void)
{
	for (long i = 0; i < 100000; i++)
		sink += i;
}

__attribute__((noinline)) static void burn_for(long ms)
{
	for (long long end = spent() + ms * 1000000; spent() < end;)
		burn();
	sink++;
}

__attribute__((noinline)) static int descend(int n)
{
	volatile char room[40];

	room[0] = (char)n;
	burn();
	if (n == 0)
		longjmp(back, 1);
	return descend(n - 1) + room[0];
}

__attribute__((noinline)) static void run_jump(void)
{
	while (spent() < deadline)
		if (!setjmp(back))
			sink += descend(10);
}

static void handler(int number)
{
	burn();
	sink++;
}

__attribute__((noinline)) static void interrupted(void)
{
	while (spent() < deadline)
		burn();
	sink++;
}

static void run_altstack(void)
{
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART };
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } };

	sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	interrupted();
	sink++;
}

static void run_execs(int n)
{
	char left[16];

	burn_for(10);
	snprintf(left, sizeof(left), "%d", n - 1);
	if (n > 0)
		execl(self, self, "execs", left, (char *)NULL);
}

extern char **environ;

static void run_spawn(int n)
{
	char *arguments[] = { self, "burn", "0", NULL };

	for (int i = 0; i < n; i++) {
		pid_t pid = 0;

		if (i & 1) {
			pid = vfork();
			if (pid == 0) {
				execv(self, arguments);
				_exit(1);
			}
		} else if (posix_spawn(&pid, self, NULL, NULL, arguments, environ)) {
			exit(1);
		}
		waitpid(pid, NULL, 0);
	}
}

static void *thread(void *argument)
{
	burn_for(50);
	return NULL;
}

static void run_threads(int n)
{
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));

	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void run_dlopen(int n, char **arguments)
{
	FILE *times = fopen(arguments[0], "w");

	for (int i = 0; times && i < n; i++)
		for (int k = 1; arguments[k]; k++) {
			void *library = dlopen(arguments[k], RTLD_NOW | RTLD_LOCAL);
			void (*work)(long) = library ? (void (*)(long))dlsym(library, "work")
						     : NULL;
			long long from = time_of(CLOCK_MONOTONIC), until = spent() + 10000000;

			if (!work)
				exit(1);
			while (spent() < until)
				work(100000);
			fprintf(times, "%d %lld %lld\n", k, from, time_of(CLOCK_MONOTONIC));
			dlclose(library);
		}
	fclose(times);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;

	self = argv[0];
	deadline = spent() + n * 1000000LL;
	if (!strcmp(argv[1], "jump"))
		run_jump();
	if (!strcmp(argv[1], "altstack"))
		run_altstack();
	if (!strcmp(argv[1], "execs"))
		run_execs(n);
	if (!strcmp(argv[1], "spawn"))
		run_spawn(n);
	if (!strcmp(argv[1], "threads"))
		run_threads(n);
	if (!strcmp(argv[1], "dlopen"))
		run_dlopen(n, argv + 3);
	if (!strcmp(argv[1], "burn"))
		burn_for(10);
	return 0;
}
