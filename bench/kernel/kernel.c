/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sample costs in the kernel: ns = a + b x user frames, found in three ways.
 *
 * run-time  what the kernel counts around the program (BPF statistics)
 * all-in    page faults with the sampler attached, less page faults without
 * program   page faults with the sampler attached, less those with a program that does nothing
 *
 * The last one is the first one's quantity measured another way; the second is what sampling
 * by such an event costs altogether. Beside them stands what a sample by timer costs with its
 * interrupt: the slope of a fixed work's time over the samples taken at 0 to 4999 Hz; and the
 * all-in cost of what the kernel does for perf record.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/kernel/frequency.h"
#include "bench/kernel/sample_cost.h"
#include "bench/kernel/script_frames.h"
#include "bench/kernel/wait_runs.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "common/message.h"

#define ROUNDS_LEAST 6
#define TIMER_DEPTH 32

/* A way of walking user stacks, and perf's that is to be compared with it. */
struct way {
	enum unwind_by unwind_by;
	const char *name; /* "tables", "frame-pointers" */
	enum perf_stacks_kind perf;
	const char *perf_slug, *perf_command;
};

struct kernel_bench {
	const struct settings *settings;
	const struct way *way;
	struct worker worker;
	struct fault_rounds rounds;
	struct results results;
};

static int print_frames(struct kernel_bench *k, const char *way, const struct sample_cost *c,
			const char *frames)
{
	char name[96];
	int failed;

	output_line("  %-10s a = [%s %s %s] + b = [%s %s %s] x %s", way,
		    output_time(c->fixed.low).text, output_time(c->fixed.value).text,
		    output_time(c->fixed.high).text, output_time(c->frame.low).text,
		    output_time(c->frame.value).text, output_time(c->frame.high).text, frames);
	snprintf(name, sizeof(name), "kernel/%s/%s/fixed", k->way->name, way);
	failed = results_estimate(&k->results, name, "latency", c->fixed);
	snprintf(name, sizeof(name), "kernel/%s/%s/frame", k->way->name, way);
	return failed | results_estimate(&k->results, name, "latency", c->frame);
}

static int print_cost(struct kernel_bench *k, const char *way, const struct sample_cost *c)
{
	return print_frames(k, way, c, "user frames");
}

static void print_depths(const struct fault_rounds *r)
{
	output_line("  user frames  fault alone  with nothing-program  with sampler    with perf  "
		    "run time");
	for (size_t d = 0; d < FAULT_DEPTHS; d++) {
		double median[FAULT_STATES + 1], of_rounds[FAULT_ROUNDS_MOST];

		for (int state = 0; state <= FAULT_STATES; state++) {
			for (size_t i = 0; i < r->count; i++)
				of_rounds[i] = state < FAULT_STATES ? r->all[i].fault_ns[state][d]
								    : r->all[i].run_ns[d];
			median[state] = statistics_median(of_rounds, r->count);
		}
		output_line("  %11.0f  %11s  %20s  %12s  %11s  %8s", r->frames[d],
			    output_time(median[FAULT_NOTHING]).text,
			    output_time(median[FAULT_TRIVIAL]).text,
			    output_time(median[FAULT_SAMPLER]).text,
			    output_time(median[FAULT_PERF]).text,
			    output_time(median[FAULT_STATES]).text);
	}
}

/* How far the two ways to measure the program agree. */
static int print_agreement(const struct kernel_bench *k)
{
	struct sample_cost_agreement a;

	if (sample_cost_agreement(&k->rounds, k->settings->seed, &a))
		return -1;
	output_line("  within rounds, program differs from run-time by [%s %s %s] per frame, "
		    "[%s %s %s] at 64 frames",
		    output_percent(a.frame.low).text, output_percent(a.frame.value).text,
		    output_percent(a.frame.high).text, output_percent(a.at_64.low).text,
		    output_percent(a.at_64.value).text, output_percent(a.at_64.high).text);
	return 0;
}

/* Also as results: what loading took, and the sizes of the sampling program. */
static void print_program(struct kernel_bench *k)
{
	const struct fault_rounds *r = &k->rounds;
	const struct program_sizes *sizes = &r->sizes;
	double load_ns = statistics_median(r->load_ns, r->count);
	char name[96];

	output_line("  loading and verifying %s; verified %s, JIT %s bytes, maps %s bytes",
		    output_time(load_ns).text,
		    sizes->verified ? output_count(sizes->verified).text : "not available",
		    sizes->jited ? output_count(sizes->jited).text : "not available",
		    output_count((double)sizes->map_bytes).text);
	snprintf(name, sizeof(name), "kernel/%s/load-native", k->way->name);
	results_value(&k->results, name, "latency", load_ns);
	if (sizes->verified)
		results_value(&k->results, name, "verified-instructions", sizes->verified);
	if (sizes->jited)
		results_value(&k->results, name, "jited-bytes", sizes->jited);
	results_value(&k->results, name, "map-bytes", (double)sizes->map_bytes);
}

static int print_way(struct kernel_bench *k, const char *name, enum sample_cost_way way)
{
	struct sample_cost cost = sample_cost_of_rounds(&k->rounds, way, k->settings->seed);

	return print_cost(k, name, &cost);
}

static struct error *print_rounds(struct kernel_bench *k)
{
	const struct fault_rounds *r = &k->rounds;

	output_line("ns per sample, user stacks by %s, %zu rounds, %.1f kernel frames each:",
		    k->way->name, r->count, r->kernel_frames);
	print_depths(r);
	if (print_way(k, "run-time", SAMPLE_COST_RUN_TIME) ||
	    print_way(k, "all-in", SAMPLE_COST_ALL_IN) ||
	    print_way(k, "program", SAMPLE_COST_PROGRAM) || print_agreement(k))
		return error_new(ERROR_FAILED, "yields no usable number");
	output_line("  beside it, all-in: the kernel's part of %s, %.0f bytes a sample",
		    k->way->perf_command,
		    (double)r->perf_found.bytes / (double)r->perf_found.samples);
	if (print_way(k, k->way->perf_slug, SAMPLE_COST_PERF_ALL_IN))
		return error_new(ERROR_FAILED, "yields no usable number");
	if (k->settings->verbose)
		output_line("  %zu of %zu batches had no runs for other processes", r->clean,
			    r->tries);
	print_program(k);
	return NULL;
}

/* Work of a tenth of a second at six rates, in as many rounds as fit into the time. */
static struct error *timer_slope(struct kernel_bench *k, enum perf_stacks_kind perf)
{
	double seconds = k->settings->seconds > 0 ? k->settings->seconds : 20;
	const struct frequency_options options = {
		.seed = k->settings->seed,
		.cpu = k->rounds.cpu,
		.rounds = (size_t)fmax(3, fmin(seconds / 2, 40)),
		.seconds = fmax(0.02, fmin(0.15, seconds / 20)),
		.depth = TIMER_DEPTH,
		.unwind_by = k->way->unwind_by,
		.perf = perf,
	};
	const char *who = perf ? k->way->perf_slug : "prof";
	struct frequency_result result;
	struct error *error = frequency_measure(&options, &result);
	char name[96];

	if (error)
		return error;
	output_line("  timer      [%s %s %s] per sample of %s, %u calls deep, by %s",
		    output_time(result.ns.low).text, output_time(result.ns.value).text,
		    output_time(result.ns.high).text, who, options.depth,
		    result.by_cpu_time ? "CPU time with its interrupts" : "elapsed time");
	snprintf(name, sizeof(name), "kernel/%s/%s%stimer", k->way->name, perf ? who : "",
		 perf ? "-" : "");
	/* A machine may be too busy to show a slope. */
	if (!(result.ns.low > 0))
		output_line("            not available: the machine is too busy");
	else if (results_estimate(&k->results, name, "latency", result.ns))
		return error_memory();
	return NULL;
}

/* What a wait costs, by the programs at its ends. */
static struct error *waits(struct kernel_bench *k)
{
	struct sample_cost cost;
	struct error *error = sample_cost_of_waits(&k->worker, k->settings->seed, &cost);

	if (output_unavailable("  off-cpu", error))
		return NULL;
	if (!error && print_cost(k, "off-cpu", &cost))
		error = error_new(ERROR_FAILED, "yields no usable number");
	return error;
}

/* The code for a wait by test runs, in the two ways in which a sample is measured. */
static struct error *test_waits(struct kernel_bench *k)
{
	struct wait_runs_result result;
	struct error *error = wait_runs_measure(&k->worker, k->settings->seed, &result);

	if (output_unavailable("  off-cpu by test runs", error))
		return NULL;
	if (!error && (print_cost(k, "test-run", &result.counted) ||
		       print_cost(k, "test-run-program", &result.difference)))
		error = error_new(ERROR_FAILED, "yields no usable number");
	return error;
}

/* What the frames that a program in that language has beside its native ones cost. */
static struct error *script(struct kernel_bench *k, const struct script_program *program)
{
	struct script_frames found;
	struct error *error = script_frames_measure(&found, program, k->rounds.cpu,
						    k->settings->seed);
	char what[64];

	snprintf(what, sizeof(what), "  %-9s", program->slug);
	if (output_unavailable(what, error))
		return NULL;
	if (error)
		return error_prefix(error, "frames of %s", program->language);
	snprintf(what, sizeof(what), "%s frames (%s)", program->language, found.version);
	return print_frames(k, program->slug, &found.cost, what)
		       ? error_new(ERROR_FAILED, "yields no usable number")
		       : NULL;
}

/* What is measured with the worker. */
static struct error *with_worker(struct kernel_bench *k)
{
	double seconds = k->settings->seconds > 0 ? k->settings->seconds : 20;
	size_t rounds = (size_t)fmax(ROUNDS_LEAST, fmin(FAULT_ROUNDS_MOST, seconds / 0.8));
	struct error *error = fault_rounds_take(&k->rounds, rounds);

	if (!error)
		error = print_rounds(k);
	if (!error && k->way->unwind_by == UNWIND_BY_TABLES)
		error = waits(k);
	if (!error && k->way->unwind_by == UNWIND_BY_TABLES)
		error = test_waits(k);
	for (size_t i = 0; !error && k->way->unwind_by == UNWIND_BY_TABLES && i < SCRIPT_PROGRAMS;
	     i++)
		error = script(k, &script_programs[i]);
	return error;
}

static struct error *measure(struct kernel_bench *k)
{
	int status = worker_start(&k->worker, k->rounds.cpu);
	struct error *error;

	if (status)
		return error_system(status, "cannot start a worker");
	error = with_worker(k);
	worker_stop(&k->worker);
	if (!error)
		error = timer_slope(k, PERF_STACKS_NONE);
	return error ? error : timer_slope(k, k->way->perf);
}

enum verdict kernel_command(const struct settings *s)
{
	static const struct way ways[] = {
		{ UNWIND_BY_TABLES, "tables", PERF_STACKS_COPY, "perf-dwarf",
		  "perf record --call-graph dwarf" },
		{ UNWIND_BY_FRAME_POINTER, "frame-pointers", PERF_STACKS_CALL_CHAIN, "perf-fp",
		  "perf record -g" },
	};
	struct results results = { 0 };
	enum verdict verdict = VERDICT_FINE;

	if (s->rest_count) {
		message_error("usage: prof-bench kernel [--phases] [--time SECONDS]");
		return VERDICT_ERROR;
	}
	if (s->phases)
		return phases_command(s);
	for (size_t i = 0; i < 2 && verdict == VERDICT_FINE; i++) {
		struct kernel_bench *k = calloc(1, sizeof(*k));
		struct error *error = k ? NULL : error_memory();

		if (k) {
			k->settings = s;
			k->way = &ways[i];
			k->rounds = (struct fault_rounds){ .worker = &k->worker,
							   .cpu = worker_choose_cpu(),
							   .unwind_by = ways[i].unwind_by,
							   .perf = ways[i].perf };
			k->results = results;
			error = measure(k);
			results = k->results;
		}
		free(k);
		if (output_error(error_prefix(error, "kernel/%s", ways[i].name)))
			verdict = VERDICT_ERROR;
	}
	if (verdict == VERDICT_FINE)
		verdict = output_bmf(&results);
	results_release(&results);
	return verdict;
}
