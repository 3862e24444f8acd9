/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/benchmark.h"

#include <stdarg.h>
#include <stdio.h>

enum benchmark_status benchmark_problem(struct benchmark_problem *problem,
					enum benchmark_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	return status;
}

__attribute__((noinline)) void benchmark_measured(const struct benchmark *b, void *state,
						  uint64_t iterations)
{
	b->run(state, iterations);
	__asm__ volatile("" : : : "memory"); /* no tail call: the tools look for the return */
}

enum benchmark_status benchmark_start(const struct benchmark *b, void **state, uint64_t seed,
				      struct benchmark_problem *problem)
{
	enum benchmark_status status = BENCHMARK_OK;

	*state = (void *)b->argument;
	if (b->setup)
		status = b->setup(state, seed, problem);
	if (status)
		return status;
	b->run(*state, 1);
	status = b->check ? b->check(*state, problem) : BENCHMARK_OK;
	if (status)
		benchmark_stop(b, *state);
	return status;
}

void benchmark_stop(const struct benchmark *b, void *state)
{
	if (b->teardown)
		b->teardown(state);
}
