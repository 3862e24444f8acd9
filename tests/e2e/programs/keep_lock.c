/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * keep_lock FILE SECONDS: runs, while a thread of it waits for FILE in mmap(), and so keeps the
 * lock of the address space for itself. See silent_files.py, "lock".
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What was written by way of the first fd is to be in the file before the second one is mapped. */
static void *keep(void *path)
{
	int first = open(path, O_RDWR), second = open(path, O_RDWR);
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, first, 0);

	if (first < 0 || second < 0 || page == MAP_FAILED) {
		perror("keep_lock");
		_exit(1);
	}
	*page = 1;
	mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, second, 0);
	fprintf(stderr, "keep_lock: there was an answer\n");
	_exit(1);
}

__attribute__((noinline)) static void work(double end)
{
	while (now() < end)
		for (volatile int i = 0; i < 1000000; i++)
			;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	/* What it uses is in memory by then: others that need the lock wait for it, too. */
	work(now() + 0.01);
	if (argc != 3 || pthread_create(&thread, NULL, keep, argv[1]))
		return 1;
	work(now() + atof(argv[2]));
	_exit(0);
}
