/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/pairs/timed_program.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure/child.h"
#include "bench/results/results.h"

#define TARGET_NS 20e6
#define GROWTH 100 /* at once: the first iterations may be slower than the rest */
#define ITERATIONS_MOST UINT32_MAX
#define ONCE_ARGUMENTS 7

void timed_program_set_iterations(struct timed_program *p, uint64_t iterations)
{
	snprintf(p->iterations, sizeof(p->iterations), "--iterations=%" PRIu64, iterations);
}

static struct error *init_benchmark(struct timed_program *p)
{
	const char *const all[ONCE_ARGUMENTS] = { p->options.program,  "once",	      "--bmf",
						  p->results,	       p->iterations, p->seed,
						  p->options.benchmark };

	strcpy(p->folder, "/tmp/prof-bench.XXXXXX");
	if (!mkdtemp(p->folder)) {
		struct error *error = error_system(errno, "%s", p->folder);

		p->folder[0] = 0;
		return error;
	}
	snprintf(p->results, sizeof(p->results), "%s/results", p->folder);
	snprintf(p->seed, sizeof(p->seed), "--seed=%" PRIu64, p->options.seed);
	timed_program_set_iterations(p, 1);
	memcpy(p->arguments, all, sizeof(all));
	return NULL;
}

struct error *timed_program_init(struct timed_program *p,
				 const struct timed_program_options *options)
{
	size_t n = 0;

	*p = (struct timed_program){ .options = *options };
	while (options->arguments && options->arguments[n])
		n++;
	p->arguments = calloc((n > ONCE_ARGUMENTS ? n : ONCE_ARGUMENTS) + 2, sizeof(*p->arguments));
	if (!p->arguments)
		return error_memory();
	if (options->benchmark)
		return init_benchmark(p);
	p->arguments[0] = options->program;
	for (size_t i = 0; i < n; i++)
		p->arguments[i + 1] = options->arguments[i];
	return NULL;
}

void timed_program_release(struct timed_program *p)
{
	if (p->folder[0]) {
		unlink(p->results);
		rmdir(p->folder);
	}
	free(p->arguments);
	*p = (struct timed_program){ 0 };
}

/* What `once` measured, per iteration. */
static struct error *read_benchmark(const struct timed_program *p, double *ns)
{
	const char *measure = p->options.cpu_time ? "cpu-time" : "latency";
	struct results results = { 0 };
	struct error *error = results_read_bmf(&results, p->results);
	const struct result *found = error ? NULL
					   : results_find(&results, p->options.benchmark, measure);

	if (found)
		*ns = found->estimate.value;
	else if (!error)
		error = error_new(ERROR_FAILED, "its command once measures no %s", measure);
	results_release(&results);
	return error;
}

static struct error *run_child(const struct timed_program *p, double *ns)
{
	const struct child_options options = { .arguments = p->arguments };
	struct child_cost cost;

	if (child_run(&options, &cost))
		return error_system(errno, "it does not start");
	if (cost.status && p->options.benchmark)
		return error_new(ERROR_FAILED,
				 "ended with status %d, so its time means nothing; \"%s once %s\" "
				 "says why",
				 cost.status, p->options.program, p->options.benchmark);
	if (cost.status)
		return error_new(ERROR_FAILED, "ended with status %d, so its time means nothing",
				 cost.status);
	*ns = p->options.cpu_time ? cost.user_ns + cost.system_ns : cost.elapsed_ns;
	return NULL;
}

struct error *timed_program_run(const struct timed_program *p, double *ns)
{
	struct error *error;

	/* Of a program that writes nothing, it would be the results of the run before. */
	if (p->options.benchmark)
		unlink(p->results);
	error = run_child(p, ns);
	if (!error && p->options.benchmark)
		error = read_benchmark(p, ns);
	if (!error && !(*ns > 0))
		error = error_new(ERROR_FAILED, "used no measurable %s",
				  p->options.cpu_time ? "CPU time; leave out --cpu-time" : "time");
	return error_prefix(error, "%s", p->options.program);
}

struct error *timed_program_calibrate(struct timed_program *p, uint64_t *iterations)
{
	double n = 1, ns;

	for (;;) {
		struct error *error;

		timed_program_set_iterations(p, (uint64_t)n);
		error = timed_program_run(p, &ns);
		if (error)
			return error;
		*iterations = (uint64_t)n;
		if (n * ns >= TARGET_NS / 2 || n >= ITERATIONS_MOST)
			return NULL;
		n = fmin(ITERATIONS_MOST, ceil(fmin(GROWTH * n, TARGET_NS / ns)));
	}
}
