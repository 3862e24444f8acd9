/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "bench/measure/benchmark.h"
#include "common/clock.h"

#define WORDS 4096 /* 32 KiB: as much as a first cache holds */
#define STEPS 10000

double reference_ns(void)
{
	uint64_t words[WORDS], x = 1;
	uint64_t start;

	for (uint64_t i = 0; i < WORDS; i++)
		words[i] = i * UINT64_C(0x9e3779b97f4a7c15);
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	/* Each step needs the one before: a multiplication and a load. */
	for (int i = 0; i < STEPS; i++)
		x = x * UINT64_C(6364136223846793005) + words[x >> 52];
	start = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	benchmark_keep(&x);
	return (double)start;
}

double reference_waited_ns(const char *task)
{
	char path[64];
	uint64_t ran, waited;
	bool good;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/schedstat", task);
	f = fopen(path, "re");
	good = f && fscanf(f, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2;
	if (f)
		fclose(f);
	return good ? (double)waited : NAN;
}
