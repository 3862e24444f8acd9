/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/wait_runs.h"

#include <unistd.h>

#include "bench/kernel/attachment.h"
#include "bench/statistics/bootstrap.h"

#define ROUNDS 8
#define BATCH 100  /* runs between two looks at the statistics */
#define BATCHES 10 /* of which the median counts */
#define MEASURED (ROUNDS * FAULT_DEPTHS)

struct bench {
	struct worker *worker;
	struct attachment attachment;
};

static struct error *run(struct bench *b, const struct program *program, uint32_t depth, double *ns)
{
	b->worker->program_id = program_id(program);
	if (worker_do(b->worker, &(struct worker_order){ WORKER_TEST_RUN, depth, BATCH }, ns))
		return error_new(ERROR_UNAVAILABLE, "the kernel refuses test runs of %s",
				 program_name(program));
	*ns /= BATCH;
	return NULL;
}

/* Each run is a sample with at least the calls that were made, up to the root. */
static struct error *check_samples(struct bench *b, uint32_t depth, uint64_t runs, double *frames)
{
	struct attachment_samples found;
	struct error *error = attachment_drain(&b->attachment, &found);

	if (error)
		return error;
	if (found.samples != runs || found.lost || found.rooted != runs ||
	    found.least_frames < depth)
		return error_new(ERROR_FAILED,
				 "%llu test runs at depth %u gave %llu samples, %llu of "
				 "them whole, of at least %u frames",
				 (unsigned long long)runs, depth, (unsigned long long)found.samples,
				 (unsigned long long)found.rooted, found.least_frames);
	*frames = found.least_frames;
	return NULL;
}

/* With statistics on. No other process runs this program, so each counted run is ours. */
static struct error *count(struct bench *b, uint32_t depth, double *ns)
{
	const struct program *program = b->attachment.program;
	int statistics;
	struct error *error = program_enable_statistics(&statistics);
	double batches[BATCHES], unused;

	for (size_t i = 0; i < BATCHES && !error; i++) {
		struct program_counters before, after;

		error = program_counters(program, &before);
		if (!error)
			error = run(b, program, depth, &unused);
		if (!error)
			error = program_counters(program, &after);
		if (!error && after.runs - before.runs != BATCH)
			error = error_new(ERROR_FAILED,
					  "%d test runs, of which the kernel counted %llu", BATCH,
					  (unsigned long long)(after.runs - before.runs));
		if (!error)
			batches[i] = (double)(after.run_ns - before.run_ns) / BATCH;
	}
	if (statistics >= 0)
		close(statistics);
	if (!error)
		*ns = statistics_median(batches, BATCHES);
	return error;
}

/* Without statistics: runs of the wait and of nothing in turns, each with its system call. */
static struct error *time_both(struct bench *b, uint32_t depth, double *ns)
{
	struct error *error = NULL;
	double differences[BATCHES], nothing;

	for (size_t i = 0; i < BATCHES && !error; i++) {
		error = run(b, b->attachment.departure, depth, &nothing);
		if (!error)
			error = run(b, b->attachment.program, depth, &differences[i]);
		if (!error)
			differences[i] -= nothing;
	}
	if (!error)
		*ns = statistics_median(differences, BATCHES);
	return error;
}

/* Of ROUNDS rounds, each at all depths. */
struct rounds {
	double frames[MEASURED], counted[MEASURED], difference[MEASURED];
};

static struct error *take_rounds(struct bench *b, struct rounds *r)
{
	struct error *error = NULL;

	for (size_t i = 0; i < MEASURED && !error; i++) {
		uint32_t depth = fault_depths[i % FAULT_DEPTHS];

		error = count(b, depth, &r->counted[i]);
		if (!error)
			error = time_both(b, depth, &r->difference[i]);
		if (!error)
			error = check_samples(b, depth, 2 * BATCH * BATCHES, &r->frames[i]);
	}
	return error;
}

struct error *wait_runs_measure(struct worker *worker, uint64_t seed,
				struct wait_runs_result *result)
{
	const struct bootstrap bootstrap = { seed, 2000, 0.95 };
	struct bench b = { .worker = worker };
	struct error *error;
	struct rounds r;
	double unused;

	error = attachment_test_waits(&b.attachment, worker);
	if (!error)
		error = run(&b, b.attachment.program, 0, &unused);
	if (!error)
		error = check_samples(&b, 0, BATCH, &unused);
	if (!error)
		error = take_rounds(&b, &r);
	attachment_release(&b.attachment);
	if (!error)
		error = sample_cost_fit(&result->counted, &bootstrap,
					&(struct points){ r.frames, r.counted, MEASURED });
	if (!error)
		error = sample_cost_fit(&result->difference, &bootstrap,
					&(struct points){ r.frames, r.difference, MEASURED });
	return error;
}
