/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * returns_into FILE SECONDS: runs code that it makes anew again and again, whose frame says that it
 * returns to the page at offset 0x1000 of a file, which is mapped and never touched. For x86-64
 * only.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/*
 * Counts down, its second argument in the register of frame pointers: push %rbp; mov %rsi,%rbp; dec
 * %rdi; jne; pop %rbp; ret.
 */
static const uint8_t counting[] = {
	0x55, 0x48, 0x89, 0xf5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDONLY) : -1;
	char *file = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	double end = now() + (argc == 3 ? atof(argv[2]) : 0);
	uint64_t frame[2] = { 0, (uintptr_t)file + 0x1010 };

	if (fd < 0 || file == MAP_FAILED) {
		perror("returns_into");
		return 1;
	}
	/* Where nothing was before. */
	for (uintptr_t at = UINT64_C(1) << 40; now() < end; at += 1 << 16) {
		void *made = mmap((void *)at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (made == MAP_FAILED)
			return 1;
		memcpy(made, counting, sizeof(counting));
		((void (*)(uint64_t, const uint64_t *))(uintptr_t)made)(1 << 22, frame);
		munmap(made, 4096);
	}
	return 0;
}
