/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/sample_cost.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/statistics/bootstrap.h"
#include "bench/statistics/random.h"

#define RESAMPLES 2000
#define BATCH 100  /* waits between two readings of the statistics */
#define BATCHES 20 /* of each depth */
#define WAIT_ROUNDS 4

/* -------- by page faults -------- */

/* ns of a sample at one depth, in one round. */
static double value_of(const struct fault_round *r, enum sample_cost_way way, size_t depth)
{
	const double sampler = r->fault_ns[FAULT_SAMPLER][depth];
	const double nothing = r->fault_ns[FAULT_NOTHING][depth];

	switch (way) {
	case SAMPLE_COST_RUN_TIME: return r->run_ns[depth];
	case SAMPLE_COST_ALL_IN: return sampler - nothing;
	case SAMPLE_COST_PROGRAM: return sampler - r->fault_ns[FAULT_TRIVIAL][depth];
	case SAMPLE_COST_PERF_ALL_IN: return r->fault_ns[FAULT_PERF][depth] - nothing;
	}
	return NAN;
}

/*
 * The line through the medians over the rounds of each depth. What is resampled is rounds,
 * each with all of its depths, as what disturbs a round disturbs all of it.
 */
static struct line fit_medians(const struct fault_rounds *r, enum sample_cost_way way,
			       const size_t *chosen)
{
	double y[FAULT_DEPTHS], of_rounds[FAULT_ROUNDS_MOST];
	struct line line = { NAN, NAN, 0, 0, 0 };

	for (size_t d = 0; d < FAULT_DEPTHS; d++) {
		for (size_t i = 0; i < r->count; i++)
			of_rounds[i] = value_of(&r->all[chosen[i]], way, d);
		y[d] = statistics_median(of_rounds, r->count);
	}
	statistics_line(r->frames, y, FAULT_DEPTHS, &line);
	return line;
}

static struct estimate interval(double value, double *resampled)
{
	statistics_sort(resampled, RESAMPLES);
	return (struct estimate){ value, statistics_quantile(resampled, RESAMPLES, 0.025),
				  statistics_quantile(resampled, RESAMPLES, 0.975) };
}

struct error *sample_cost_fit(struct sample_cost *cost, const struct bootstrap *b,
			      const struct points *points)
{
	struct bootstrap_line line;

	if (bootstrap_line(b, points, &line))
		return error_memory();
	*cost = (struct sample_cost){ line.a, line.b };
	return NULL;
}

struct sample_cost sample_cost_of_rounds(const struct fault_rounds *r, enum sample_cost_way way,
					 uint64_t seed)
{
	double fixed[RESAMPLES], frame[RESAMPLES];
	size_t chosen[FAULT_ROUNDS_MOST];
	struct random random;
	struct line line;

	random_seed(&random, seed);
	for (size_t i = 0; i < RESAMPLES; i++) {
		for (size_t j = 0; j < r->count; j++)
			chosen[j] = random_below(&random, r->count);
		line = fit_medians(r, way, chosen);
		fixed[i] = line.a;
		frame[i] = line.b;
	}
	for (size_t j = 0; j < r->count; j++)
		chosen[j] = j;
	line = fit_medians(r, way, chosen);
	return (struct sample_cost){ interval(line.a, fixed), interval(line.b, frame) };
}

int sample_cost_agreement(const struct fault_rounds *r, uint64_t seed,
			  struct sample_cost_agreement *agreement)
{
	const struct bootstrap bootstrap = { seed, RESAMPLES, 0.95 };
	double per_frame[FAULT_ROUNDS_MOST], at_64[FAULT_ROUNDS_MOST], y[FAULT_DEPTHS];

	for (size_t i = 0; i < r->count; i++) {
		struct line counted, own;

		statistics_line(r->frames, r->all[i].run_ns, FAULT_DEPTHS, &counted);
		for (size_t d = 0; d < FAULT_DEPTHS; d++)
			y[d] = value_of(&r->all[i], SAMPLE_COST_PROGRAM, d);
		statistics_line(r->frames, y, FAULT_DEPTHS, &own);
		per_frame[i] = own.b / counted.b - 1;
		at_64[i] = (own.a + 64 * own.b) / (counted.a + 64 * counted.b) - 1;
	}
	return bootstrap_median(&bootstrap, per_frame, r->count, &agreement->frame) ||
			       bootstrap_median(&bootstrap, at_64, r->count, &agreement->at_64)
		       ? -1
		       : 0;
}

/* -------- by waits -------- */

/* One batch of waits: ns per wait of both programs. */
static struct error *count_waits(struct worker *worker, struct attachment *a, size_t d, double *ns)
{
	struct program_counters before[2], after[2];
	struct error *error = program_counters(a->departure, &before[0]);
	double unused;

	if (!error)
		error = program_counters(a->program, &before[1]);
	if (!error &&
	    worker_do(worker, &(struct worker_order){ WORKER_SLEEP, fault_depths[d], BATCH },
		      &unused))
		error = error_new(ERROR_FAILED, "the worker ended");
	if (!error)
		error = program_counters(a->departure, &after[0]);
	if (!error)
		error = program_counters(a->program, &after[1]);
	*ns = (double)(after[0].run_ns - before[0].run_ns + after[1].run_ns - before[1].run_ns) /
	      BATCH;
	return error;
}

/* The typical wait of one depth; its samples are checked. */
static struct error *wait_typically(struct worker *worker, struct attachment *a, size_t d,
				    double *frames, double *ns)
{
	struct error *error = NULL;
	struct attachment_samples found;
	double batches[BATCHES];

	for (size_t i = 0; i < BATCHES && !error; i++)
		error = count_waits(worker, a, d, &batches[i]);
	if (!error)
		error = attachment_drain(a, &found);
	if (error)
		return error;
	/* A wait may be over before it begins. */
	if (found.samples < BATCH * BATCHES * 9 / 10 || found.most_frames < fault_depths[d])
		return error_new(ERROR_FAILED,
				 "%d waits at depth %u gave %llu samples of up to %u frames",
				 BATCH * BATCHES, fault_depths[d],
				 (unsigned long long)found.samples, found.most_frames);
	*frames = found.most_frames;
	*ns = statistics_median(batches, BATCHES) * BATCH * BATCHES / (double)found.samples;
	return NULL;
}

struct error *sample_cost_of_waits(struct worker *worker, uint64_t seed, struct sample_cost *cost)
{
	const struct bootstrap bootstrap = { seed, RESAMPLES, 0.95 };
	double frames[WAIT_ROUNDS * FAULT_DEPTHS], ns[WAIT_ROUNDS * FAULT_DEPTHS];
	const size_t n = WAIT_ROUNDS * FAULT_DEPTHS;
	struct attachment a = { 0 };
	struct error *error = attachment_waits(&a, worker);
	struct attachment_samples before;
	int statistics = -1;

	if (!error)
		error = program_enable_statistics(&statistics);
	if (!error)
		error = attachment_drain(&a, &before);
	for (size_t i = 0; i < n && !error; i++)
		error = wait_typically(worker, &a, i % FAULT_DEPTHS, &frames[i], &ns[i]);
	if (statistics >= 0)
		close(statistics);
	attachment_release(&a);
	if (!error)
		error = sample_cost_fit(cost, &bootstrap, &(struct points){ frames, ns, n });
	return error;
}
