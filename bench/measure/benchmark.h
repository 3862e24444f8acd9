/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_BENCHMARK_H
#define BENCH_MEASURE_BENCHMARK_H

/*
 * A benchmark is work that can be repeated, with a check of what the work yields: a number
 * for work that went wrong is worse than none. The same benchmarks are timed (run), counted
 * under callgrind (instr) and watched for allocations (heap).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/results/results.h"

enum benchmark_status {
	BENCHMARK_OK = 0,
	BENCHMARK_UNAVAILABLE, /* cannot run here: no privileges, no such kernel, no tool */
	BENCHMARK_FAILED,      /* ran, and was wrong */
};

/* Why, for the two that are not OK; one line without full stop. */
struct benchmark_problem {
	char text[256];
};

/* Fills `problem` and returns `status`. */
enum benchmark_status benchmark_problem(struct benchmark_problem *problem,
					enum benchmark_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct benchmark {
	const char *name; /* "format/encode" */
	const char *unit; /* what an iteration handles: "samples/s"; NULL: nothing to count */

	/* Makes the state of the work; it is not measured. NULL: the work has no state. */
	enum benchmark_status (*setup)(void **state, uint64_t seed,
				       struct benchmark_problem *problem);
	/* Does the work `iterations` times. */
	void (*run)(void *state, uint64_t iterations);
	/* Verifies the result of the last run(). */
	enum benchmark_status (*check)(void *state, struct benchmark_problem *problem);
	/* Units and bytes that one iteration handles, known after the first run; may be NULL. */
	void (*size)(void *state, uint64_t *units, uint64_t *bytes);
	/* Further measures, such as bytes per sample, under this benchmark's name; may be NULL. */
	int (*measures)(void *state, const char *name, struct results *results);
	void (*teardown)(void *state);
	bool in_children; /* its work is done by child processes, whose CPU time counts */
	bool extra;	  /* takes long: done only when a name or --filter asks for it */
	const void
		*argument; /* for setup() of benchmarks that share it: **state points here first */
};

/* Keeps the compiler from leaving out work whose result nobody reads. */
static inline void benchmark_keep(const void *value)
{
	__asm__ volatile("" : : "g"(value) : "memory");
}

/*
 * Calls run(). valgrind's tools find this function by its name and count only within it.
 */
void benchmark_measured(const struct benchmark *b, void *state, uint64_t iterations);

/* setup(), one iteration and check(). All is released again unless this is OK. */
enum benchmark_status benchmark_start(const struct benchmark *b, void **state, uint64_t seed,
				      struct benchmark_problem *problem);
void benchmark_stop(const struct benchmark *b, void *state);

#endif
