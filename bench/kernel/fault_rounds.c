/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/fault_rounds.h"

#include <linux/perf_event.h>
#include <unistd.h>

#include "bench/statistics/statistics.h"

#define FAULTS 2000
#define BATCH 100			  /* faults between two readings of the statistics */
#define BATCHES 20			  /* wanted of each depth */
#define TRIES 200			  /* batches until the machine is too busy */
#define PERF_RING_BYTES ((size_t)1 << 20) /* holds a batch of copied stacks */

const uint32_t fault_depths[FAULT_DEPTHS] = { 0, 16, 32, 64, 110 };

static enum benchmark_status fault(struct fault_rounds *r, uint32_t depth, uint32_t faults,
				   double *ns, struct benchmark_problem *problem)
{
	if (worker_do(r->worker, WORKER_FAULT, depth, faults, ns))
		return benchmark_problem(problem, BENCHMARK_FAILED, "the worker ended");
	*ns /= faults;
	if (r->attached)
		perf_stacks_drain(r->attached, &r->perf_found);
	return BENCHMARK_OK;
}

/* The median over batches of FAULTS faults, which excludes the batches that were disturbed. */
static enum benchmark_status fault_typically(struct fault_rounds *r, uint32_t depth, double *ns,
					     struct benchmark_problem *problem)
{
	enum benchmark_status status = BENCHMARK_OK;
	double batches[FAULTS / BATCH];

	for (size_t i = 0; i < FAULTS / BATCH && !status; i++)
		status = fault(r, depth, BATCH, &batches[i], problem);
	if (!status)
		*ns = statistics_median(batches, FAULTS / BATCH);
	return status;
}

static enum benchmark_status fault_at_all(struct fault_rounds *r, double *ns,
					  struct benchmark_problem *problem)
{
	enum benchmark_status status = BENCHMARK_OK;

	for (size_t d = 0; d < FAULT_DEPTHS && !status; d++)
		status = fault_typically(r, fault_depths[d], &ns[d], problem);
	return status;
}

/*
 * Each fault must have become one sample of the depth that was made, or the number next to
 * it would be that of other work.
 */
static enum benchmark_status check_samples(struct fault_rounds *r, struct attachment *a,
					   uint64_t *fired, size_t d, uint64_t faults,
					   struct benchmark_problem *problem)
{
	struct attachment_samples found;
	enum benchmark_status status = attachment_drain(a, &found, problem);
	uint64_t taken = found.fired - *fired;

	if (status)
		return status;
	*fired = found.fired;
	if (taken < faults || taken > faults + faults / 20 || found.lost || found.samples != taken)
		return benchmark_problem(problem, BENCHMARK_FAILED,
					 "%llu page faults gave %llu samples, %llu of them read, "
					 "%llu lost",
					 (unsigned long long)faults, (unsigned long long)taken,
					 (unsigned long long)found.samples,
					 (unsigned long long)found.lost);
	if (r->unwind_by == UNWIND_BY_TABLES && found.rooted < found.samples * 99 / 100)
		return benchmark_problem(
			problem, BENCHMARK_FAILED, "only %llu of %llu stacks reach the root",
			(unsigned long long)found.rooted, (unsigned long long)found.samples);
	/* The worker has a few further faults, for example by its pipe, with other stacks. */
	if (found.most_frames < fault_depths[d])
		return benchmark_problem(problem, BENCHMARK_FAILED,
					 "stacks of %u calls were seen with %u frames",
					 fault_depths[d], found.most_frames);
	r->frames[d] = found.most_frames;
	r->kernel_frames = (double)found.kernel_frames / (double)found.samples;
	return BENCHMARK_OK;
}

/*
 * The program also runs, briefly, for page faults of other tasks on this CPU. Batches are small
 * enough that most have none of these; the others are dropped.
 */
static enum benchmark_status count_batches(struct fault_rounds *r, struct attachment *a, size_t d,
					   double *run_ns, uint64_t *faults,
					   struct benchmark_problem *problem)
{
	enum benchmark_status status = BENCHMARK_OK;
	double clean[BATCHES], unused;
	size_t n = 0, tries = 0;

	while (n < BATCHES && tries < TRIES && !status) {
		struct program_counters before, after;

		tries++;
		status = program_counters(a->program, &before, problem);
		if (!status)
			status = fault(r, fault_depths[d], BATCH, &unused, problem);
		if (!status)
			status = program_counters(a->program, &after, problem);
		if (!status && after.runs - before.runs == BATCH && after.run_ns > before.run_ns)
			clean[n++] = (double)(after.run_ns - before.run_ns) / BATCH;
	}
	*faults = tries * BATCH;
	if (status)
		return status;
	r->tries += tries;
	r->clean += n;
	if (n < BATCHES / 4)
		return benchmark_problem(problem, BENCHMARK_FAILED,
					 "%zu of %zu looks at the statistics were free of other "
					 "processes' page faults; the machine is too busy",
					 n, tries);
	*run_ns = statistics_median(clean, n);
	return BENCHMARK_OK;
}

/* Run time as the kernel counts it: apart, as counting costs time itself. */
static enum benchmark_status count_runs(struct fault_rounds *r, struct attachment *a,
					uint64_t *fired, struct fault_round *round,
					struct benchmark_problem *problem)
{
	int statistics = program_enable_statistics(problem);
	enum benchmark_status status = statistics < 0 ? BENCHMARK_UNAVAILABLE : BENCHMARK_OK;

	for (size_t d = 0; d < FAULT_DEPTHS && !status; d++) {
		uint64_t faults;

		status = count_batches(r, a, d, &round->run_ns[d], &faults, problem);
		if (!status)
			status = check_samples(r, a, fired, d, faults, problem);
	}
	if (statistics >= 0)
		close(statistics);
	return status;
}

static enum benchmark_status with_sampler(struct fault_rounds *r, struct fault_round *round,
					  struct benchmark_problem *problem)
{
	struct attachment a = { 0 };
	enum benchmark_status status = attachment_sampler(
		&a, r->worker, r->cpu, "page-faults/period=1/", r->unwind_by, problem);
	uint64_t fired = 0;

	for (size_t d = 0; d < FAULT_DEPTHS && !status; d++) {
		status = fault_typically(r, fault_depths[d], &round->fault_ns[FAULT_SAMPLER][d],
					 problem);
		if (!status)
			status = check_samples(r, &a, &fired, d, FAULTS, problem);
	}
	if (!status)
		status = count_runs(r, &a, &fired, round, problem);
	if (!status)
		status = program_sizes(a.program, &r->sizes, problem);
	r->load_ns[r->count] = a.load_ns;
	attachment_release(&a);
	return status;
}

static enum benchmark_status with_trivial(struct fault_rounds *r, struct fault_round *round,
					  struct benchmark_problem *problem)
{
	struct attachment a = { 0 };
	enum benchmark_status status = attachment_trivial(&a, r->cpu, problem);

	if (!status)
		status = fault_at_all(r, round->fault_ns[FAULT_TRIVIAL], problem);
	attachment_release(&a);
	return status;
}

/* As for the sampler: every fault must have become a sample with its stack. */
static enum benchmark_status check_perf(const struct fault_rounds *r,
					struct benchmark_problem *problem)
{
	const struct perf_stacks_found *found = &r->perf_found;

	if (found->samples < FAULT_DEPTHS * FAULTS || found->lost)
		return benchmark_problem(problem, BENCHMARK_FAILED,
					 "%d page faults gave %llu samples of perf's, %llu lost",
					 FAULT_DEPTHS * FAULTS, (unsigned long long)found->samples,
					 (unsigned long long)found->lost);
	if (r->perf == PERF_STACKS_CALL_CHAIN &&
	    found->most_frames < fault_depths[FAULT_DEPTHS - 1])
		return benchmark_problem(problem, BENCHMARK_FAILED,
					 "stacks of %u calls were seen by perf with %llu frames",
					 fault_depths[FAULT_DEPTHS - 1],
					 (unsigned long long)found->most_frames);
	return BENCHMARK_OK;
}

static enum benchmark_status with_perf(struct fault_rounds *r, struct fault_round *round,
				       struct benchmark_problem *problem)
{
	const struct perf_stacks_options options = {
		.kind = r->perf,
		.event = PERF_COUNT_SW_PAGE_FAULTS,
		.period = 1,
		.pid = r->worker->pid,
		.cpu = r->cpu,
		.ring_bytes = PERF_RING_BYTES,
	};
	struct perf_stacks p;
	enum benchmark_status status = perf_stacks_open(&p, &options, problem);

	if (status)
		return status;
	r->attached = &p;
	r->perf_found = (struct perf_stacks_found){ 0 };
	status = fault_at_all(r, round->fault_ns[FAULT_PERF], problem);
	r->attached = NULL;
	perf_stacks_release(&p);
	return status ? status : check_perf(r, problem);
}

/* The states in one order in even rounds and in the other in odd ones, so that drift cancels. */
static enum benchmark_status take_round(struct fault_rounds *r, struct benchmark_problem *problem)
{
	struct fault_round *round = &r->all[r->count];
	enum benchmark_status status = BENCHMARK_OK;

	for (int i = 0; i < FAULT_STATES && !status; i++) {
		enum fault_state state = r->count % 2 ? FAULT_STATES - 1 - i : i;

		if (state == FAULT_NOTHING)
			status = fault_at_all(r, round->fault_ns[FAULT_NOTHING], problem);
		else if (state == FAULT_TRIVIAL)
			status = with_trivial(r, round, problem);
		else if (state == FAULT_PERF)
			status = with_perf(r, round, problem);
		else
			status = with_sampler(r, round, problem);
	}
	r->count++;
	return status;
}

enum benchmark_status fault_rounds_take(struct fault_rounds *r, size_t n,
					struct benchmark_problem *problem)
{
	double unused[FAULT_DEPTHS];
	/* The worker's own stack and pages become its own at the first touch. */
	enum benchmark_status status = fault_at_all(r, unused, problem);

	while (r->count < n && !status)
		status = take_round(r, problem);
	return status;
}
