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

static struct error *fault(struct fault_rounds *r, uint32_t depth, uint32_t faults, double *ns)
{
	if (worker_do(r->worker, &(struct worker_order){ WORKER_FAULT, depth, faults }, ns))
		return error_new(ERROR_FAILED, "the worker ended");
	*ns /= faults;
	if (r->attached)
		perf_stacks_drain(r->attached, &r->perf_found);
	return NULL;
}

/* The median over batches of FAULTS faults, which excludes the batches that were disturbed. */
static struct error *fault_typically(struct fault_rounds *r, uint32_t depth, double *ns)
{
	struct error *error = NULL;
	double batches[FAULTS / BATCH];

	for (size_t i = 0; i < FAULTS / BATCH && !error; i++)
		error = fault(r, depth, BATCH, &batches[i]);
	if (!error)
		*ns = statistics_median(batches, FAULTS / BATCH);
	return error;
}

static struct error *fault_at_all(struct fault_rounds *r, double *ns)
{
	struct error *error = NULL;

	for (size_t d = 0; d < FAULT_DEPTHS && !error; d++)
		error = fault_typically(r, fault_depths[d], &ns[d]);
	return error;
}

/* The sampler at work. */
struct sampled {
	struct attachment attachment;
	uint64_t fired; /* until the last look at its samples */
};

/*
 * Each fault must have become one sample of the depth that was made, or the number next to
 * it would be that of other work.
 */
static struct error *check_samples(struct fault_rounds *r, struct sampled *s, size_t d,
				   uint64_t faults)
{
	struct attachment_samples found;
	struct error *error = attachment_drain(&s->attachment, &found);
	uint64_t taken = found.fired - s->fired;

	if (error)
		return error;
	s->fired = found.fired;
	if (taken < faults || taken > faults + faults / 20 || found.lost || found.samples != taken)
		return error_new(ERROR_FAILED,
				 "%llu page faults gave %llu samples, %llu of them read, "
				 "%llu lost",
				 (unsigned long long)faults, (unsigned long long)taken,
				 (unsigned long long)found.samples, (unsigned long long)found.lost);
	if (r->unwind_by == UNWIND_BY_TABLES && found.rooted < found.samples * 99 / 100)
		return error_new(ERROR_FAILED, "only %llu of %llu stacks reach the root",
				 (unsigned long long)found.rooted,
				 (unsigned long long)found.samples);
	/* The worker has a few further faults, for example by its pipe, with other stacks. */
	if (found.most_frames < fault_depths[d])
		return error_new(ERROR_FAILED, "stacks of %u calls were seen with %u frames",
				 fault_depths[d], found.most_frames);
	r->frames[d] = found.most_frames;
	r->kernel_frames = (double)found.kernel_frames / (double)found.samples;
	return NULL;
}

/*
 * The program also runs, briefly, for page faults of other tasks on this CPU. Batches are small
 * enough that most have none of these; the others are dropped.
 */
static struct error *count_batches(struct fault_rounds *r, struct sampled *s, size_t d,
				   double *run_ns)
{
	struct error *error = NULL;
	double clean[BATCHES], unused;
	size_t n = 0, tries = 0;

	while (n < BATCHES && tries < TRIES && !error) {
		struct program_counters before, after;

		tries++;
		error = program_counters(s->attachment.program, &before);
		if (!error)
			error = fault(r, fault_depths[d], BATCH, &unused);
		if (!error)
			error = program_counters(s->attachment.program, &after);
		if (!error && after.runs - before.runs == BATCH && after.run_ns > before.run_ns)
			clean[n++] = (double)(after.run_ns - before.run_ns) / BATCH;
	}
	if (error)
		return error;
	r->tries += tries;
	r->clean += n;
	if (n < BATCHES / 4)
		return error_new(ERROR_FAILED,
				 "%zu of %zu looks at the statistics were free of other "
				 "processes' page faults; the machine is too busy",
				 n, tries);
	*run_ns = statistics_median(clean, n);
	return check_samples(r, s, d, tries * BATCH);
}

/* Run time as the kernel counts it: apart, as counting costs time itself. */
static struct error *count_runs(struct fault_rounds *r, struct sampled *s,
				struct fault_round *round)
{
	int statistics;
	struct error *error = program_enable_statistics(&statistics);

	for (size_t d = 0; d < FAULT_DEPTHS && !error; d++)
		error = count_batches(r, s, d, &round->run_ns[d]);
	if (statistics >= 0)
		close(statistics);
	return error;
}

static struct error *with_sampler(struct fault_rounds *r, struct fault_round *round)
{
	struct sampled a = { 0 };
	const struct attachment_options options = { "page-faults/period=1/", r->cpu, r->unwind_by };
	struct error *error = attachment_sampler(&a.attachment, r->worker, &options);

	for (size_t d = 0; d < FAULT_DEPTHS && !error; d++) {
		error = fault_typically(r, fault_depths[d], &round->fault_ns[FAULT_SAMPLER][d]);
		if (!error)
			error = check_samples(r, &a, d, FAULTS);
	}
	if (!error)
		error = count_runs(r, &a, round);
	if (!error)
		error = program_sizes(a.attachment.walking, &r->sizes);
	r->load_ns[r->count] = a.attachment.load_ns;
	attachment_release(&a.attachment);
	return error;
}

static struct error *with_trivial(struct fault_rounds *r, struct fault_round *round)
{
	struct attachment a = { 0 };
	struct error *error = attachment_trivial(&a, r->cpu);

	if (!error)
		error = fault_at_all(r, round->fault_ns[FAULT_TRIVIAL]);
	attachment_release(&a);
	return error;
}

/* As for the sampler: every fault must have become a sample with its stack. */
static struct error *check_perf(const struct fault_rounds *r)
{
	const struct perf_stacks_found *found = &r->perf_found;

	if (found->samples < FAULT_DEPTHS * FAULTS || found->lost)
		return error_new(ERROR_FAILED,
				 "%d page faults gave %llu samples of perf's, %llu lost",
				 FAULT_DEPTHS * FAULTS, (unsigned long long)found->samples,
				 (unsigned long long)found->lost);
	if (r->perf == PERF_STACKS_CALL_CHAIN &&
	    found->most_frames < fault_depths[FAULT_DEPTHS - 1])
		return error_new(
			ERROR_FAILED, "stacks of %u calls were seen by perf with %llu frames",
			fault_depths[FAULT_DEPTHS - 1], (unsigned long long)found->most_frames);
	return NULL;
}

static struct error *with_perf(struct fault_rounds *r, struct fault_round *round)
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
	struct error *error = perf_stacks_open(&p, &options);

	if (error)
		return error;
	r->attached = &p;
	r->perf_found = (struct perf_stacks_found){ 0 };
	error = fault_at_all(r, round->fault_ns[FAULT_PERF]);
	r->attached = NULL;
	perf_stacks_release(&p);
	return error ? error : check_perf(r);
}

/* The states in one order in even rounds and in the other in odd ones, so that drift cancels. */
static struct error *take_round(struct fault_rounds *r)
{
	struct fault_round *round = &r->all[r->count];
	struct error *error = NULL;

	for (int i = 0; i < FAULT_STATES && !error; i++) {
		enum fault_state state = r->count % 2 ? FAULT_STATES - 1 - i : i;

		if (state == FAULT_NOTHING)
			error = fault_at_all(r, round->fault_ns[FAULT_NOTHING]);
		else if (state == FAULT_TRIVIAL)
			error = with_trivial(r, round);
		else if (state == FAULT_PERF)
			error = with_perf(r, round);
		else
			error = with_sampler(r, round);
	}
	r->count++;
	return error;
}

struct error *fault_rounds_take(struct fault_rounds *r, size_t n)
{
	double unused[FAULT_DEPTHS];
	/* The worker's own stack and pages become its own at the first touch. */
	struct error *error = fault_at_all(r, unused);

	while (r->count < n && !error)
		error = take_round(r);
	return error;
}
