/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libprof_bench: the commands of prof-bench for benchmarks that are not prof's own. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/measure/registry.h"
#include "bench/prof_bench.h"
#include "bench/results/commands.h"

/* A benchmark of the caller's, while it runs. */
struct state {
	const struct prof_benchmark *benchmark;
	void *own;
};

static struct error *setup(void **state, uint64_t seed)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return error_memory();
	s->benchmark = *state;
	if (s->benchmark->setup) {
		s->own = s->benchmark->setup(seed);
		if (!s->own) {
			free(s);
			return error_new(ERROR_FAILED, "its setup failed");
		}
	}
	*state = s;
	return NULL;
}

static void run(void *state, uint64_t iterations)
{
	struct state *s = state;

	s->benchmark->run(s->own, iterations);
}

static struct error *check(void *state)
{
	struct state *s = state;

	if (!s->benchmark->check || s->benchmark->check(s->own))
		return NULL;
	return error_new(ERROR_FAILED, "what it did is wrong");
}

static void size(void *state, uint64_t *units, uint64_t *bytes)
{
	const struct state *s = state;

	*units = s->benchmark->units;
	*bytes = s->benchmark->bytes;
}

static void teardown(void *state)
{
	struct state *s = state;

	if (s->benchmark->teardown)
		s->benchmark->teardown(s->own);
	free(s);
}

static const struct command library_commands[] = {
	{ "run", "[NAME...]", "time benchmarks, and compare with the run before",
	  "list filter name time warm-up measurements resamples baseline cpu-time", run_command },
	{ "instr", "[NAME...]", "count instructions and cache accesses (valgrind)",
	  "list filter name iterations", instr_command },
	{ "heap", "[NAME...]", "count allocations (valgrind)", "list filter name iterations dhat",
	  heap_command },
	{ "once", "NAME", "do one benchmark a few times, for tools that watch", "iterations",
	  once_command },
	RESULTS_COMMANDS,
};

int prof_bench_main(const struct prof_benchmark *all, size_t count, int argc, char **argv)
{
	struct benchmark *own = calloc(count + 1, sizeof(*own));
	const struct benchmark_table table = { own, count };
	const struct benchmark_table *const tables[] = { &table, NULL };
	int status = VERDICT_ERROR;

	for (size_t i = 0; own && i < count; i++)
		own[i] = (struct benchmark){
			.name = all[i].name,
			.unit = all[i].unit,
			.setup = setup,
			.run = run,
			.check = check,
			.size = size,
			.teardown = teardown,
			.argument = &all[i],
		};
	if (own)
		status = settings_main(
			&(const struct command_table){
				library_commands,
				sizeof(library_commands) / sizeof(*library_commands), tables },
			argc, argv);
	else
		fputs("prof-bench: no memory\n", stderr);
	free(own);
	return status;
}
