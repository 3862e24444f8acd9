/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_REGISTRY_H
#define BENCH_MEASURE_REGISTRY_H

/*
 * All benchmarks that run, instr and heap know. A file of benchmarks offers one table; the
 * registry lists the tables.
 */

#include "bench/measure/benchmark.h"
#include "bench/results/settings.h"

struct benchmark_table {
	const struct benchmark *all;
	size_t count;
};

extern const struct benchmark_table common_benchmarks;
extern const struct benchmark_table demangle_benchmarks;
extern const struct benchmark_table drain_benchmarks;
extern const struct benchmark_table format_benchmarks;
extern const struct benchmark_table report_benchmarks;
extern const struct benchmark_table xdp_benchmarks;

/* The i-th of all, or NULL after the last. */
const struct benchmark *registry_get(size_t i);

/*
 * Those whose name is among the command's arguments (none: all) and matches --filter, to be
 * freed; without either, and without --list, not the extra ones. NULL, with a message, for a name
 * that is not there, a bad expression, or no match.
 */
const struct benchmark **registry_select(const struct settings *s, size_t *count);

/* --list */
enum verdict registry_list(const struct settings *s);

#endif
