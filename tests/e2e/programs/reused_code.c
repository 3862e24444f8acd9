/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * reused_code PHASES MS FILE: in each phase another function lives at the same place, with a line
 * in the perf map. Writes "PHASE FROM TO", CLOCK_MONOTONIC ns, to FILE. Exit status 77 when
 * memory may not be both writable and executable.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	/* mov %rdi,%rax; 1: dec %rax; jnz 1b; ret */
	static const unsigned char code[] = {
		0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb, 0xc3
	};
	void *place = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*run)(long);
	char path[64];
	FILE *map, *times;

	if (place == MAP_FAILED)
		return 77;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	times = fopen(argv[3], "w");
	if (argc != 4 || !map || !times)
		return 1;
	memcpy(&run, &place, sizeof(run));
	for (int i = 0; i < atoi(argv[1]); i++) {
		long long from, ns = atoll(argv[2]) * 1000000;

		memcpy(place, code, sizeof(code));
		fprintf(map, "%lx 100 phase_%d_\n", (unsigned long)place, i);
		fflush(map);
		for (from = now(); now() - from < ns;)
			run(20000);
		fprintf(times, "%d %lld %lld\n", i, from, now());
	}
	unlink(path);
	return fclose(times) || fclose(map);
}
