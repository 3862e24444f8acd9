/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_BENCHMARK_H
#define BENCH_MEASURE_BENCHMARK_H

/*
 * A benchmark is work that can be repeated, with a check of what the work yields: a number
 * for work that went wrong is worse than none. The same benchmarks are timed (run), counted
 * under callgrind (instr) and watched for allocations (heap).
 *
 * ERROR_UNAVAILABLE is a benchmark that cannot run here (no privileges, no such kernel, no tool);
 * any other error is one that ran, or should have run, and went wrong.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/results/results.h"
#include "common/error.h"

struct benchmark {
	const char *name; /* "format/encode" */
	const char *unit; /* what an iteration handles: "samples/s"; NULL: nothing to count */

	/* Without a name, so that a table has its functions in one line, and users need none. */
	struct {
		/* Makes the state of the work; it is not measured. NULL: the work has no state. */
		struct error *(*setup)(void **state, uint64_t seed);
		/* Does the work `iterations` times. */
		void (*run)(void *state, uint64_t iterations);
		/* Verifies the result of the last run(). */
		struct error *(*check)(void *state);
		void (*teardown)(void *state);
		/* Units and bytes of one iteration, where `units` does not say it: after a run. */
		void (*size)(void *state, uint64_t *units, uint64_t *bytes);
		/* Further measures, such as bytes per sample, under this benchmark's name. */
		int (*measures)(void *state, const char *name, struct results *results);
		/* How long its child processes waited for a CPU so far, NaN: not known. */
		double (*waited_ns)(void *state);
	};		  /* all but run() may be NULL */
	uint64_t units;	  /* that one iteration handles */
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

/* setup(), one iteration and check(). On an error all is released again. */
struct error *benchmark_start(const struct benchmark *b, void **state, uint64_t seed) ERROR_CHECKED;
void benchmark_stop(const struct benchmark *b, void *state);

#endif
