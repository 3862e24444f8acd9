/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/suite/suite.h"

#include <stddef.h>

const struct benchmark_table *const suite_tables[] = {
	&common_benchmarks,
	&drain_benchmarks,
	&format_benchmarks,
	&report_benchmarks,
	&demangle_benchmarks,
	&xdp_benchmarks,
	NULL,
};
