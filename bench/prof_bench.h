/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_PROF_BENCH_H
#define BENCH_PROF_BENCH_H

/*
 * Benchmarks of C and C++ functions, measured with the commands of prof-bench(1): run, instr,
 * heap, ab, gate and history, with their options.
 *
 *     #include <prof_bench.h>
 *
 *     static void sort(void *state, uint64_t iterations)
 *     {
 *             while (iterations--) {
 *                     refill(state);
 *                     qsort(numbers(state), 1000, sizeof(int), by_size);
 *                     prof_bench_keep(state);
 *             }
 *     }
 *
 *     static const struct prof_benchmark all[] = {
 *             { .name = "sort/thousand", .run = sort, .setup = make_numbers, .teardown = free,
 *               .check = is_sorted, .unit = "numbers/s", .units = 1000 },
 *     };
 *
 *     int main(int argc, char **argv)
 *     {
 *             return prof_bench_main(all, 1, argc, argv);
 *     }
 *
 *     cc -O2 -g sort.c -lprof_bench -ljansson -lm -o sort
 *     ./sort run; ./sort instr; ./sort heap; ./sort run --bmf results.json
 *     ./sort ab --cpu-time --benchmark sort/thousand old/sort ./sort
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct prof_benchmark {
	const char *name; /* "sort/thousand": up to 1,000 bytes of UTF-8 */

	/* Does the work `iterations` times. */
	void (*run)(void *state, uint64_t iterations);

	/*
	 * The rest may be left out. setup() makes the state, from a seed that --seed chooses,
	 * outside of all measurement; NULL: it failed.
	 */
	void *(*setup)(uint64_t seed);
	/* Verifies the result of the last run(). No time is reported for a wrong result. */
	bool (*check)(void *state);
	void (*teardown)(void *state);

	/* What one iteration handles: `units` of `unit` ("numbers/s"), and bytes. */
	const char *unit;
	uint64_t units, bytes;
};

/* The whole program: parses the arguments and does what they say. Returns the exit status. */
int prof_bench_main(const struct prof_benchmark *all, size_t count, int argc, char **argv);

/*
 * Keeps the compiler from leaving out work whose result nobody reads: for it, what `value` points
 * to is read and changed here.
 */
static inline void prof_bench_keep(const void *value)
{
	__asm__ volatile("" : : "g"(value) : "memory");
}

#ifdef __cplusplus
}
#endif

#endif
