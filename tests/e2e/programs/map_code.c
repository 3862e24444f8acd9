/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * map_code FILE SECONDS [deleted]: runs the page of code at offset 0x1000 of a file for so long, of
 * a file that is deleted by then if asked for.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Of CPU time: a busy machine takes longer, and takes as many samples. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;
	void (*code)(void) = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0x1000);
	double end = now() + atof(argc > 2 ? argv[2] : "0");

	if (fd < 0 || code == MAP_FAILED) {
		perror("map_code");
		return 1;
	}
	if (argc > 3)
		unlink(argv[1]);
	while (now() < end)
		code();
	return 0;
}
