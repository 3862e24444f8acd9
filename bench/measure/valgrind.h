/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_VALGRIND_H
#define BENCH_MEASURE_VALGRIND_H

/*
 * Runs this program again under valgrind, for one benchmark ("prof-bench once NAME"), or any
 * command, and reads what the tool wrote. For a benchmark the environment is empty, so that its
 * length does not shift the stack: the counts of two runs are equal.
 */

#include <stdbool.h>

#include "bench/measure/benchmark.h"
#include "bench/measure/dhat.h"

struct valgrind_work {
	const char *benchmark;
	uint64_t iterations, seed;
	char *const *command; /* in place of the benchmark, in our environment; NULL: none */
};

/* As callgrind counts them: of benchmark_measured() alone, or of the whole command. */
struct callgrind_counts {
	double instructions;
	double l1_hits, ll_hits, ram_hits;
	double estimated_cycles; /* L1 + 5 LL + 35 RAM */
};
struct error *callgrind_run(const struct valgrind_work *work,
			    struct callgrind_counts *counts) ERROR_CHECKED;
/* Of the text of its output file; false when it is none. */
bool callgrind_parse(const char *text, struct callgrind_counts *counts);

/* Of the whole program. `keep`: a file that gets what DHAT wrote, or NULL. */
struct error *dhat_run(const struct valgrind_work *work, const char *keep,
		       struct dhat *dhat) ERROR_CHECKED;

#endif
