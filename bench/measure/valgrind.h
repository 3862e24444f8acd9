/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_VALGRIND_H
#define BENCH_MEASURE_VALGRIND_H

/*
 * Runs this program again under valgrind, for one benchmark ("prof-bench once NAME"), and
 * reads what the tool wrote. The environment is empty, so that its length does not shift the
 * stack: the counts of two runs are equal.
 */

#include <stdbool.h>

#include "bench/measure/benchmark.h"

/* As callgrind counts them, of benchmark_measured() alone. */
struct callgrind_counts {
	double instructions;
	double l1_hits, ll_hits, ram_hits;
	double estimated_cycles; /* L1 + 5 LL + 35 RAM */
};
enum benchmark_status callgrind_run(const char *benchmark, uint64_t iterations, uint64_t seed,
				    struct callgrind_counts *counts,
				    struct benchmark_problem *problem);
/* Of the text of its output file; false when it is none. */
bool callgrind_parse(const char *text, struct callgrind_counts *counts);

/* As DHAT counts them, of the whole program. */
struct dhat_counts {
	double total_bytes, total_blocks;
	double peak_bytes, peak_blocks; /* when the most bytes were in use */
	double end_bytes, end_blocks;
};
enum benchmark_status dhat_run(const char *benchmark, uint64_t iterations, uint64_t seed,
			       struct dhat_counts *counts, struct benchmark_problem *problem);
bool dhat_parse(const char *text, struct dhat_counts *counts);

#endif
