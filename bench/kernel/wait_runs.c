/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/wait_runs.h"

#include <unistd.h>

#include "bench/kernel/attachment.h"
#include "bench/statistics/bootstrap.h"

#define ROUNDS 8
#define BATCH 100  /* runs between two looks at the statistics */
#define BATCHES 10 /* of which the median counts */
#define DEPTHS_MAX 8

struct bench {
	struct worker *worker;
	struct attachment attachment;
};

static enum benchmark_status run(struct bench *b, const struct program *program, uint32_t depth,
				 double *ns, struct benchmark_problem *problem)
{
	b->worker->program_id = program_id(program);
	if (worker_do(b->worker, WORKER_TEST_RUN, depth, BATCH, ns))
		return benchmark_problem(problem, BENCHMARK_UNAVAILABLE,
					 "the kernel refuses test runs of %s",
					 program_name(program));
	*ns /= BATCH;
	return BENCHMARK_OK;
}

/* Each run is a sample with at least the calls that were made, up to the root. */
static enum benchmark_status check_samples(struct bench *b, uint32_t depth, uint64_t runs,
					   double *frames, struct benchmark_problem *problem)
{
	struct attachment_samples found;
	enum benchmark_status status = attachment_drain(&b->attachment, &found, problem);

	if (status)
		return status;
	if (found.samples != runs || found.lost || found.rooted != runs ||
	    found.least_frames < depth)
		return benchmark_problem(problem, BENCHMARK_FAILED,
					 "%llu test runs at depth %u gave %llu samples, %llu of "
					 "them whole, of at least %u frames",
					 (unsigned long long)runs, depth,
					 (unsigned long long)found.samples,
					 (unsigned long long)found.rooted, found.least_frames);
	*frames = found.least_frames;
	return BENCHMARK_OK;
}

/* With statistics on. No other process runs this program, so each counted run is ours. */
static enum benchmark_status count(struct bench *b, uint32_t depth, double *ns,
				   struct benchmark_problem *problem)
{
	const struct program *program = b->attachment.program;
	int statistics = program_enable_statistics(problem);
	enum benchmark_status status = statistics < 0 ? BENCHMARK_UNAVAILABLE : BENCHMARK_OK;
	double batches[BATCHES], unused;

	for (size_t i = 0; i < BATCHES && !status; i++) {
		struct program_counters before, after;

		status = program_counters(program, &before, problem);
		if (!status)
			status = run(b, program, depth, &unused, problem);
		if (!status)
			status = program_counters(program, &after, problem);
		if (!status && after.runs - before.runs != BATCH)
			status = benchmark_problem(problem, BENCHMARK_FAILED,
						   "%d test runs, of which the kernel counted %llu",
						   BATCH,
						   (unsigned long long)(after.runs - before.runs));
		if (!status)
			batches[i] = (double)(after.run_ns - before.run_ns) / BATCH;
	}
	if (statistics >= 0)
		close(statistics);
	if (!status)
		*ns = statistics_median(batches, BATCHES);
	return status;
}

/* Without statistics: runs of the wait and of nothing in turns, each with its system call. */
static enum benchmark_status time_both(struct bench *b, uint32_t depth, double *ns,
				       struct benchmark_problem *problem)
{
	enum benchmark_status status = BENCHMARK_OK;
	double differences[BATCHES], nothing;

	for (size_t i = 0; i < BATCHES && !status; i++) {
		status = run(b, b->attachment.departure, depth, &nothing, problem);
		if (!status)
			status = run(b, b->attachment.program, depth, &differences[i], problem);
		if (!status)
			differences[i] -= nothing;
	}
	if (!status)
		*ns = statistics_median(differences, BATCHES);
	return status;
}

static enum benchmark_status take_rounds(struct bench *b, const uint32_t *depths, size_t n,
					 double *frames, double *counted, double *difference,
					 struct benchmark_problem *problem)
{
	enum benchmark_status status = BENCHMARK_OK;

	for (size_t i = 0; i < ROUNDS * n && !status; i++) {
		uint32_t depth = depths[i % n];

		status = count(b, depth, &counted[i], problem);
		if (!status)
			status = time_both(b, depth, &difference[i], problem);
		if (!status)
			status = check_samples(b, depth, 2 * BATCH * BATCHES, &frames[i], problem);
	}
	return status;
}

enum benchmark_status wait_runs_measure(struct worker *worker, uint64_t seed,
					const uint32_t *depths, size_t n,
					struct wait_runs_result *result,
					struct benchmark_problem *problem)
{
	const struct bootstrap bootstrap = { seed, 2000, 0.95 };
	double frames[ROUNDS * DEPTHS_MAX], counted[ROUNDS * DEPTHS_MAX],
		difference[ROUNDS * DEPTHS_MAX], unused;
	struct bench b = { .worker = worker };
	enum benchmark_status status;

	if (n > DEPTHS_MAX)
		return benchmark_problem(problem, BENCHMARK_FAILED, "too many depths");
	status = attachment_test_waits(&b.attachment, worker, problem);
	if (!status)
		status = run(&b, b.attachment.program, 0, &unused, problem);
	if (!status)
		status = check_samples(&b, 0, BATCH, &unused, problem);
	if (!status)
		status = take_rounds(&b, depths, n, frames, counted, difference, problem);
	attachment_release(&b.attachment);
	if (!status && (bootstrap_line(&bootstrap, frames, counted, ROUNDS * n,
				       &result->counted.fixed, &result->counted.frame) ||
			bootstrap_line(&bootstrap, frames, difference, ROUNDS * n,
				       &result->difference.fixed, &result->difference.frame)))
		status = benchmark_problem(problem, BENCHMARK_FAILED, "no memory");
	return status;
}
