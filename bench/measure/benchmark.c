/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/benchmark.h"

__attribute__((noinline)) void benchmark_measured(const struct benchmark *b, void *state,
						  uint64_t iterations)
{
	b->run(state, iterations);
	__asm__ volatile("" : : : "memory"); /* no tail call: the tools look for the return */
}

struct error *benchmark_start(const struct benchmark *b, void **state, uint64_t seed)
{
	struct error *error = NULL;

	*state = (void *)b->argument;
	if (b->setup)
		error = b->setup(state, seed);
	if (error)
		return error;
	b->run(*state, 1);
	error = b->check ? b->check(*state) : NULL;
	if (error)
		benchmark_stop(b, *state);
	return error;
}

void benchmark_stop(const struct benchmark *b, void *state)
{
	if (b->teardown)
		b->teardown(state);
}
