/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_SUITE_SUITE_H
#define BENCH_SUITE_SUITE_H

/* The benchmarks of prof itself. A file of benchmarks offers one table; these are all. */

#include "bench/measure/registry.h"

extern const struct benchmark_table common_benchmarks;
extern const struct benchmark_table demangle_benchmarks;
extern const struct benchmark_table drain_benchmarks;
extern const struct benchmark_table format_benchmarks;
extern const struct benchmark_table report_benchmarks;
extern const struct benchmark_table xdp_benchmarks;

extern const struct benchmark_table *const suite_tables[]; /* the last one is NULL */

#endif
