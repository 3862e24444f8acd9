/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_COMMAND_H
#define BENCH_MEASURE_COMMAND_H

/*
 * Any command as a benchmark: an iteration is one run of it. Its output is discarded, and a run
 * that does not end with status 0 is a failure.
 */

#include "bench/measure/benchmark.h"

#define COMMAND_NAME_SIZE 256

struct command_benchmark {
	struct benchmark benchmark;
	char *const *arguments;
	char name[COMMAND_NAME_SIZE];
};

/* `name` NULL: the words of the command. Both stay the caller's. */
void command_benchmark_init(struct command_benchmark *c, const char *name, char *const *arguments);

#endif
