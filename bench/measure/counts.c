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

static enum verdict write_cpu_time(const struct settings *s, const char *name, double ns)
{
	struct results results = { 0 };
	enum verdict verdict = VERDICT_ERROR;

	/* Nothing was measured without iterations. */
	if (!s->iterations ||
	    !results_value(&results, name, "cpu-time", ns / (double)s->iterations))
		verdict = output_bmf(&results);
	results_release(&results);
	return verdict;
}

enum verdict once_command(const struct settings *s)
{
	const struct benchmark **selected;
	struct benchmark_problem problem = { "" };
	enum benchmark_status status;
	enum verdict written = VERDICT_FINE;
	size_t count;
	void *state;

	if (s->rest_count != 1) {
		message_error("usage: prof-bench once [--iterations N] NAME");
		return VERDICT_ERROR;
	}
	selected = registry_select(s, &count);
	if (!selected)
		return VERDICT_ERROR;
	status = benchmark_start(selected[0], &state, s->seed, &problem);
	if (!status) {
		double before = cpu_ns(), measured;

		if (s->iterations)
			benchmark_measured(selected[0], state, s->iterations);
		measured = cpu_ns() - before;
		if (s->verbose)
			output_line("measured %.0f total %.0f", measured, cpu_ns());
		if (selected[0]->check)
			status = selected[0]->check(state, &problem);
		if (!status)
			written = write_cpu_time(s, selected[0]->name, measured);
		benchmark_stop(selected[0], state);
	}
	if (status)
		message_error("%s: %s", selected[0]->name, problem.text);
	free(selected);
	return status == BENCHMARK_OK		 ? written
	       : status == BENCHMARK_UNAVAILABLE ? VERDICT_INCONCLUSIVE
						 : VERDICT_ERROR;
}

typedef enum benchmark_status count_one(const struct settings *s, const struct benchmark *b,
					struct results *results, struct benchmark_problem *problem);

/*
 * Does `one` for each selected benchmark. Benchmarks that cannot run here are said to be not
 * available; that nothing could run is an error, and so is one that is wrong.
 */
static enum verdict count_all(const struct settings *s, count_one *one)
{
	struct results results = { 0 };
	enum verdict verdict = VERDICT_FINE, written;
	size_t count;
	const struct benchmark **selected;

	if (s->list)
		return registry_list(s);
	if (!s->iterations) {
		message_error("--iterations 0: there would be nothing to count");
		return VERDICT_ERROR;
	}
	selected = registry_select(s, &count);
	if (!selected)
		return VERDICT_ERROR;
	child_use_one_cpu();
	for (size_t i = 0; i < count; i++) {
		struct benchmark_problem problem = { "" };
		enum benchmark_status status = BENCHMARK_OK;
		void *state;

		/* First without the tool, to tell apart "not available" and "failed". */
		status = benchmark_start(selected[i], &state, s->seed, &problem);
		if (!status) {
			benchmark_stop(selected[i], state);
			status = one(s, selected[i], &results, &problem);
		}
		if (status == BENCHMARK_UNAVAILABLE)
			output_line("%-23s not available: %s", selected[i]->name, problem.text);
		if (status == BENCHMARK_FAILED) {
			message_error("%s: failed: %s", selected[i]->name, problem.text);
			verdict = VERDICT_ERROR;
		}
	}
	if (!results.count) {
		message_error("nothing could be counted");
		verdict = VERDICT_ERROR;
	} else {
		written = output_bmf(&results);
		verdict = written > verdict ? written : verdict;
	}
	results_release(&results);
	free(selected);
	return verdict;
}

struct named_count {
	const char *measure;
	double count;
};

static enum benchmark_status put_counts(struct results *results, const struct benchmark *b,
					const struct named_count *counts, size_t n,
					struct benchmark_problem *problem)
{
	output_line("%s", b->name);
	for (size_t i = 0; i < n; i++) {
		output_line("  %-24s %18s", counts[i].measure, output_count(counts[i].count).text);
		if (results_value(results, b->name, counts[i].measure, counts[i].count))
			return benchmark_problem(problem, BENCHMARK_FAILED, "no memory");
	}
	return BENCHMARK_OK;
}

/* -------- instr -------- */

static enum benchmark_status count_instructions(const struct settings *s, const struct benchmark *b,
						struct results *results,
						struct benchmark_problem *problem)
{
	double n = (double)s->iterations;
	struct callgrind_counts c;
	enum benchmark_status status = callgrind_run(b->name, s->iterations, s->seed, &c, problem);

	if (status)
		return status;
	return put_counts(results, b,
			  (const struct named_count[]){
				  { "instructions", c.instructions / n },
				  { "l1-hits", c.l1_hits / n },
				  { "ll-hits", c.ll_hits / n },
				  { "ram-hits", c.ram_hits / n },
				  { "estimated-cycles", c.estimated_cycles / n },
			  },
			  5, problem);
}

enum verdict instr_command(const struct settings *s)
{
	return count_all(s, count_instructions);
}

/* -------- heap -------- */

static enum benchmark_status count_own(const struct settings *s, const struct benchmark *b,
				       struct results *results, struct benchmark_problem *problem)
{
	double n = (double)s->iterations;
	enum benchmark_status status;
	struct allocations made;
	void *state;

	if (!allocations_available())
		return benchmark_problem(problem, BENCHMARK_UNAVAILABLE,
					 "the own counter does not work under sanitizers");
	status = benchmark_start(b, &state, s->seed, problem);
	if (status)
		return status;
	allocations_begin();
	benchmark_measured(b, state, s->iterations);
	made = allocations_end();
	if (b->check)
		status = b->check(state, problem);
	benchmark_stop(b, state);
	if (status)
		return status;
	return put_counts(results, b,
			  (const struct named_count[]){
				  { "allocated-bytes", (double)made.bytes / n },
				  { "allocated-blocks", (double)made.blocks / n },
			  },
			  2, problem);
}

/* The iterations' part of the totals is the difference to a run with none of them. */
static enum benchmark_status count_dhat(const struct settings *s, const struct benchmark *b,
					struct results *results, struct benchmark_problem *problem)
{
	double n = (double)s->iterations;
	struct dhat_counts with, without;
	enum benchmark_status status = dhat_run(b->name, s->iterations, s->seed, &with, problem);

	if (!status)
		status = dhat_run(b->name, 0, s->seed, &without, problem);
	if (status)
		return status;
	return put_counts(
		results, b,
		(const struct named_count[]){
			{ "total-bytes", (with.total_bytes - without.total_bytes) / n },
			{ "total-blocks", (with.total_blocks - without.total_blocks) / n },
			{ "at-t-gmax-bytes", with.peak_bytes },
			{ "at-t-gmax-blocks", with.peak_blocks },
			{ "at-t-end-bytes", with.end_bytes },
			{ "at-t-end-blocks", with.end_blocks },
		},
		6, problem);
}

static enum benchmark_status count_heap(const struct settings *s, const struct benchmark *b,
					struct results *results, struct benchmark_problem *problem)
{
	enum benchmark_status own = count_own(s, b, results, problem), dhat;

	if (own == BENCHMARK_FAILED)
		return own;
	if (own == BENCHMARK_UNAVAILABLE)
		output_line("%s: allocations: not available: %s", b->name, problem->text);
	dhat = count_dhat(s, b, results, problem);
	if (dhat == BENCHMARK_UNAVAILABLE && own == BENCHMARK_OK) {
		output_line("%s: DHAT: not available: %s", b->name, problem->text);
		return BENCHMARK_OK;
	}
	return dhat;
}

enum verdict heap_command(const struct settings *s)
{
	return count_all(s, count_heap);
}
