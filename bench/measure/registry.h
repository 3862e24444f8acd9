/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_REGISTRY_H
#define BENCH_MEASURE_REGISTRY_H

/*
 * The benchmarks that run, instr and heap know: those of the program's tables, or the command
 * that follows "--".
 */

#include "bench/measure/benchmark.h"
#include "bench/measure/command.h"
#include "bench/results/settings.h"

struct benchmark_table {
	const struct benchmark *all;
	size_t count;
};

/*
 * What a command works on: the command after "--", if there is one; else those whose name is among
 * the command's arguments (none: all) and matches --filter, without either not the extra ones.
 */
struct benchmark_selection {
	const struct benchmark **all;
	size_t count;
	struct command_benchmark command;
};

/* False, with a message: a name is not there or there twice, a bad expression, or no match. */
bool registry_select(const struct settings *s, struct benchmark_selection *selection);
void registry_release(struct benchmark_selection *selection);

/* --list */
enum verdict registry_list(const struct settings *s);

#endif
