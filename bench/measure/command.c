/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/child.h"

struct state {
	const struct command_benchmark *command;
	int status, error; /* of the run that failed */
	double user_ns, system_ns, waited_ns, runs;
	uint64_t peak_bytes;
};

static struct error *setup(void **state, uint64_t seed)
{
	struct state *s = calloc(1, sizeof(*s));

	(void)seed;
	if (!s)
		return error_memory();
	s->command = *state;
	*state = s;
	return NULL;
}

static void run(void *state, uint64_t iterations)
{
	struct state *s = state;
	const struct child_options options = {
		.arguments = (const char *const *)s->command->arguments,
	};

	for (uint64_t i = 0; i < iterations && !s->status && !s->error; i++) {
		struct child_cost cost = { 0 };

		s->error = child_run(&options, &cost) ? errno : 0;
		s->status = cost.status;
		s->user_ns += cost.user_ns;
		s->system_ns += cost.system_ns;
		s->waited_ns += cost.waited_ns;
		s->runs++;
		if (cost.peak_bytes > s->peak_bytes)
			s->peak_bytes = cost.peak_bytes;
	}
}

static struct error *check(void *state)
{
	const struct state *s = state;

	if (s->error)
		return error_new(ERROR_FAILED, "%s: %s", s->command->arguments[0],
				 strerror(s->error));
	if (s->status)
		return error_new(ERROR_FAILED, "it ended with status %d, so its time means nothing",
				 s->status);
	return NULL;
}

static double waited(void *state)
{
	const struct state *s = state;

	return s->waited_ns;
}

static int measures(void *state, const char *name, struct results *results)
{
	const struct state *s = state;

	return results_value(results, name, "user-time", s->user_ns / s->runs) ||
	       results_value(results, name, "system-time", s->system_ns / s->runs) ||
	       results_value(results, name, "peak-bytes", (double)s->peak_bytes);
}

void command_benchmark_init(struct command_benchmark *c, const char *name, char *const *arguments)
{
	size_t used = 0;

	*c = (struct command_benchmark){ .arguments = arguments };
	if (name)
		snprintf(c->name, sizeof(c->name), "%s", name);
	for (size_t i = 0; !name && arguments[i] && used < sizeof(c->name); i++)
		used += (size_t)snprintf(c->name + used, sizeof(c->name) - used, "%s%s",
					 i ? " " : "", arguments[i]);
	c->benchmark = (struct benchmark){
		.name = c->name,
		.setup = setup,
		.run = run,
		.check = check,
		.measures = measures,
		.waited_ns = waited,
		.teardown = free,
		.in_children = true,
		.argument = c,
	};
}
