/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * made_code MS [DUMP]: copies a function to memory of its own, as a JIT compiler would, writes its
 * name to /tmp/perf-PID.map, runs the copy for MS milliseconds and removes the map. With DUMP, a
 * file named jit-PID.dump in that folder is written and mapped instead; with an empty DUMP the map
 * is not removed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SIZE 4096

/*
 * Counts down in the register of frame pointers: push %rbp; mov %rdi,%rbp; dec %rbp; jne; pop %rbp;
 * ret. For x86-64 only.
 */
static const uint8_t counting[] = {
	0x55, 0x48, 0x89, 0xfd, 0x48, 0xff, 0xcd, 0x75, 0xfb, 0x5d, 0xc3
};
#define COUNTING 1024 /* where its copy begins */

/* Calls nothing and reads nothing by its own address: it works wherever it is copied to. */
__attribute__((noinline, section(".text.original"))) static uint64_t original(uint64_t n)
{
	volatile uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++)
		sum += i * i;
	return sum;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void put(FILE *f, uint64_t value, size_t size)
{
	fwrite(&value, size, 1, f); /* little-endian machines only, like the rest */
}

static void write_dump(const char *folder, const void *code)
{
	static const char name[] = "made_by_dump";
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	f = fopen(path, "w+");
	if (!f)
		exit(1);
	put(f, 0x4a695444, 4), put(f, 1, 4), put(f, 40, 4), put(f, 62, 4);
	put(f, 0, 4), put(f, (uint64_t)getpid(), 4), put(f, 0, 8), put(f, 0, 8);
	put(f, 0, 4), put(f, 56 + sizeof(name) + SIZE, 4), put(f, 1, 8);
	put(f, (uint64_t)getpid(), 4), put(f, (uint64_t)getpid(), 4);
	put(f, (uintptr_t)code, 8), put(f, (uintptr_t)code, 8), put(f, SIZE, 8), put(f, 1, 8);
	fwrite(name, sizeof(name), 1, f);
	fwrite(code, SIZE, 1, f);
	fflush(f);
	/* The mark by which profilers learn of the file. */
	if (mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED)
		exit(1);
}

int main(int argc, char **argv)
{
	uint64_t end = now_ms() + strtoull(argv[1], NULL, 10), (*made)(uint64_t),
		 (*count)(uint64_t);
	void *code = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *f;

	if (code == MAP_FAILED)
		return 77; /* not allowed here */
	memcpy(code, (const void *)original, 256);
	memcpy((char *)code + COUNTING, counting, sizeof(counting));
	__builtin___clear_cache((char *)code, (char *)code + SIZE);
	memcpy(&made, &code, sizeof(made));
	count = (uint64_t(*)(uint64_t))((char *)code + COUNTING);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	if (argc > 2 && *argv[2]) {
		write_dump(argv[2], code);
	} else {
		f = fopen(path, "w");
		if (!f)
			return 1;
		fprintf(f, "%lx %x made up; by a compiler\n", (unsigned long)(uintptr_t)code, SIZE);
		fclose(f);
	}
	while (now_ms() < end) {
		made(100000);
#ifdef __x86_64__
		count(200000);
#endif
	}
	if (argc < 3 || *argv[2])
		unlink(path);
	return 0;
}
