/* SPDX-License-Identifier: GPL-2.0-or-later */
/* instr and heap: what does not depend on how busy the machine is. */
#include <stdlib.h>

#include "bench/measure/allocations.h"
#include "bench/measure/child.h"
#include "bench/measure/registry.h"
#include "bench/measure/valgrind.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "common/clock.h"
#include "common/message.h"

/* CPU time of this process so far. */
static double cpu_ns(void)
{
	return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static double elapsed_ns(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC_RAW);
}

static enum verdict write_times(const struct settings *s, const char *name, double cpu,
				double elapsed)
{
	const double n = (double)s->iterations;
	struct results results = { 0 };
	enum verdict verdict = VERDICT_ERROR;

	/* Nothing was measured without iterations. */
	if (!s->iterations || (!results_value(&results, name, "cpu-time", cpu / n) &&
			       !results_value(&results, name, "latency", elapsed / n)))
		verdict = output_bmf(&results);
	results_release(&results);
	return verdict;
}

enum verdict once_command(const struct settings *s)
{
	struct benchmark_selection selection;
	const struct benchmark *b;
	struct error *error;
	enum verdict verdict = VERDICT_FINE;
	void *state;

	if (s->rest_count != 1) {
		message_error("usage: prof-bench once [--iterations N] NAME");
		return VERDICT_ERROR;
	}
	if (!registry_select(s, &selection))
		return VERDICT_ERROR;
	b = selection.all[0];
	error = benchmark_start(b, &state, s->seed);
	if (!error) {
		double started = elapsed_ns(), elapsed, before = cpu_ns(), measured;

		if (s->iterations)
			benchmark_measured(b, state, s->iterations);
		measured = cpu_ns() - before;
		elapsed = elapsed_ns() - started;
		if (s->verbose)
			output_line("measured %.0f total %.0f", measured, cpu_ns());
		if (b->check)
			error = b->check(state);
		/* Only with --bmf, because DHAT would count the allocations that this takes. */
		if (!error && s->bmf)
			verdict = write_times(s, b->name, measured, elapsed);
		benchmark_stop(b, state);
	}
	if (error)
		verdict = error->kind == ERROR_UNAVAILABLE ? VERDICT_INCONCLUSIVE : VERDICT_ERROR;
	output_error(error_prefix(error, "%s", b->name));
	registry_release(&selection);
	return verdict;
}

#define SITES_SHOWN 10

typedef struct error *count_one(const struct settings *s, const struct benchmark *b,
				struct results *results);

/* Counts one benchmark, or one command: then `b` is its name only. */
static enum verdict count_benchmark(const struct settings *s, const struct benchmark *b,
				    count_one *one, struct results *results)
{
	void *state;
	/* First without the tool, which distinguishes "not available" from "failed". */
	struct error *error = benchmark_start(b, &state, s->seed);

	if (!error) {
		benchmark_stop(b, state);
		error = one(s, b, results);
	}
	if (output_unavailable(b->name, error))
		return VERDICT_FINE;
	return output_error(error_prefix(error, "%s: failed", b->name)) ? VERDICT_ERROR
									: VERDICT_FINE;
}

/*
 * Does `one` for each selected benchmark. Benchmarks that cannot run here are reported as not
 * available. It is an error if nothing could be counted, or if a benchmark fails its check.
 */
static enum verdict count_all(const struct settings *s, count_one *one)
{
	struct results results = { 0 };
	enum verdict verdict = VERDICT_FINE, written;
	struct benchmark_selection selection;

	if (s->list)
		return registry_list(s);
	if (!s->iterations) {
		message_error("--iterations 0: there would be nothing to count");
		return VERDICT_ERROR;
	}
	if (!registry_select(s, &selection))
		return VERDICT_ERROR;
	child_use_one_cpu();
	for (size_t i = 0; i < selection.count; i++) {
		written = count_benchmark(s, selection.all[i], one, &results);
		verdict = written > verdict ? written : verdict;
	}
	if (!results.count) {
		message_error("nothing could be counted");
		verdict = VERDICT_ERROR;
	} else {
		written = output_bmf(&results);
		verdict = written > verdict ? written : verdict;
	}
	results_release(&results);
	registry_release(&selection);
	return verdict;
}

struct named_count {
	const char *measure;
	double count;
};

static struct error *put_counts(struct results *results, const struct benchmark *b,
				const struct named_count *counts, size_t n)
{
	output_line("%s", b->name);
	for (size_t i = 0; i < n; i++) {
		output_line("  %-24s %18s", counts[i].measure, output_count(counts[i].count).text);
		if (results_value(results, b->name, counts[i].measure, counts[i].count))
			return error_memory();
	}
	return NULL;
}

/* -------- instr -------- */

static struct error *count_instructions(const struct settings *s, const struct benchmark *b,
					struct results *results)
{
	const struct valgrind_work work = { b->name, s->iterations, s->seed, s->command };
	double n = s->command ? 1 : (double)s->iterations;
	struct callgrind_counts c;
	struct error *error = callgrind_run(&work, &c);

	if (error)
		return error;
	return put_counts(results, b,
			  (const struct named_count[]){
				  { "instructions", c.instructions / n },
				  { "l1-hits", c.l1_hits / n },
				  { "ll-hits", c.ll_hits / n },
				  { "ram-hits", c.ram_hits / n },
				  { "estimated-cycles", c.estimated_cycles / n },
			  },
			  5);
}

enum verdict instr_command(const struct settings *s)
{
	return count_all(s, count_instructions);
}

/* -------- heap -------- */

static struct error *count_own(const struct settings *s, const struct benchmark *b,
			       struct results *results)
{
	double n = (double)s->iterations;
	struct error *error;
	struct allocations made;
	void *state;

	if (!allocations_available())
		return error_new(ERROR_UNAVAILABLE,
				 "the counter is not in this program, or it has a sanitizer");
	error = benchmark_start(b, &state, s->seed);
	if (error)
		return error;
	allocations_begin();
	benchmark_measured(b, state, s->iterations);
	made = allocations_end();
	if (b->check)
		error = b->check(state);
	benchmark_stop(b, state);
	if (error)
		return error;
	return put_counts(results, b,
			  (const struct named_count[]){
				  { "allocated-bytes", (double)made.bytes / n },
				  { "allocated-blocks", (double)made.blocks / n },
			  },
			  2);
}

static void print_sites(const struct dhat *d)
{
	output_line("  %12s %12s %12s  allocated by", "at peak", "in all", "at end");
	for (size_t i = 0; i < d->site_count && i < SITES_SHOWN; i++) {
		const struct dhat_counts *c = &d->sites[i].counts;

		output_line("  %12s %12s %12s  %s", output_count(c->peak_bytes).text,
			    output_count(c->total_bytes).text, output_count(c->end_bytes).text,
			    d->sites[i].stack);
	}
}

static struct error *put_dhat(struct results *results, const struct benchmark *b,
			      const struct dhat_counts *c)
{
	return put_counts(results, b,
			  (const struct named_count[]){
				  { "total-bytes", c->total_bytes },
				  { "total-blocks", c->total_blocks },
				  { "at-t-gmax-bytes", c->peak_bytes },
				  { "at-t-gmax-blocks", c->peak_blocks },
				  { "at-t-end-bytes", c->end_bytes },
				  { "at-t-end-blocks", c->end_blocks },
			  },
			  6);
}

/* The iterations' part of the totals is the difference to a run with none of them. */
static struct error *count_dhat(const struct settings *s, const struct benchmark *b,
				struct results *results)
{
	const struct valgrind_work work = { b->name, s->iterations, s->seed, s->command };
	const struct valgrind_work none = { b->name, 0, s->seed, NULL };
	struct dhat with = { 0 }, without = { 0 };
	struct error *error = dhat_run(&work, s->dhat, &with);

	if (!error && !s->command)
		error = dhat_run(&none, NULL, &without);
	if (!error && !s->command) {
		double n = (double)s->iterations;

		with.counts.total_bytes = (with.counts.total_bytes - without.counts.total_bytes) /
					  n;
		with.counts.total_blocks =
			(with.counts.total_blocks - without.counts.total_blocks) / n;
	}
	if (!error)
		error = put_dhat(results, b, &with.counts);
	if (!error)
		print_sites(&with);
	dhat_release(&with);
	dhat_release(&without);
	return error;
}

static struct error *count_heap(const struct settings *s, const struct benchmark *b,
				struct results *results)
{
	struct error *error;
	bool counted;

	if (s->command)
		return count_dhat(s, b, results);
	error = count_own(s, b, results);
	counted = !error;
	if (error && !output_unavailable("  allocations", error))
		return error;
	error = count_dhat(s, b, results);
	return counted && output_unavailable("  DHAT", error) ? NULL : error;
}

enum verdict heap_command(const struct settings *s)
{
	return count_all(s, count_heap);
}
