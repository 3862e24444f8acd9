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
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/kernel/attachment.h"
#include "bench/kernel/frequency.h"
#include "bench/kernel/perf_stacks.h"
#include "bench/kernel/wait_runs.h"
#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "bench/statistics/bootstrap.h"
#include "bench/statistics/random.h"
#include "common/message.h"

#define DEPTHS 5
#define FAULTS 2000
#define ROUNDS_LEAST 6
#define ROUNDS_MOST 60
#define BATCH 100			  /* faults in one look at the statistics */
#define BATCHES 20			  /* wanted of each depth */
#define TRIES 200			  /* batches until the machine is too busy */
#define PERF_RING_BYTES ((size_t)1 << 20) /* holds a batch of copied stacks */

static const uint32_t depths[DEPTHS] = { 0, 16, 32, 64, 110 };

enum state { NOTHING, TRIVIAL, SAMPLER, PERF, STATES };

/* A way of walking user stacks, and perf's that is to be compared with it. */
struct way {
	enum unwind_by unwind_by;
	const char *name; /* "tables", "frame-pointers" */
	enum perf_stacks_kind perf;
	const char *perf_slug, *perf_command;
};

/* One round: ns per fault in each state and ns per run, at each depth. */
struct round {
	double fault_ns[STATES][DEPTHS];
	double run_ns[DEPTHS];
};

struct kernel_bench {
	const struct settings *settings;
	const struct way *way;
	unsigned int cpu;
	struct worker worker;
	struct perf_stacks *perf; /* while it is attached */
	struct perf_stacks_found perf_found;
	struct round rounds[ROUNDS_MOST];
	size_t round_count;
	double frames[DEPTHS];
	double load_ns[ROUNDS_MOST];
	double kernel_frames;
	size_t tries, clean; /* looks at the statistics, and those without runs for others */
	struct program_sizes sizes;
	struct results results;
};

static enum benchmark_status fault(struct kernel_bench *k, uint32_t depth, uint32_t faults,
				   double *ns, struct benchmark_problem *problem)
{
	if (worker_do(&k->worker, WORKER_FAULT, depth, faults, ns))
		return benchmark_problem(problem, BENCHMARK_FAILED, "the worker ended");
	*ns /= faults;
	if (k->perf)
		perf_stacks_drain(k->perf, &k->perf_found);
	return BENCHMARK_OK;
}

/* Of FAULTS in batches, the median: what came between in some of them is left out. */
static enum benchmark_status fault_typically(struct kernel_bench *k, uint32_t depth, double *ns,
					     struct benchmark_problem *problem)
{
	enum benchmark_status status = BENCHMARK_OK;
	double batches[FAULTS / BATCH];

	for (size_t i = 0; i < FAULTS / BATCH && !status; i++)
		status = fault(k, depth, BATCH, &batches[i], problem);
	if (!status)
		*ns = statistics_median(batches, FAULTS / BATCH);
	return status;
}

static enum benchmark_status fault_at_all(struct kernel_bench *k, double *ns,
					  struct benchmark_problem *problem)
{
	enum benchmark_status status = BENCHMARK_OK;

	for (size_t d = 0; d < DEPTHS && !status; d++)
		status = fault_typically(k, depths[d], &ns[d], problem);
	return status;
}

/*
 * Each fault must have become one sample of the depth that was made, or the number next to
 * it would be that of other work.
 */
static enum benchmark_status check_samples(struct kernel_bench *k, struct attachment *a,
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
	if (k->way->unwind_by == UNWIND_BY_TABLES && found.rooted < found.samples * 99 / 100)
		return benchmark_problem(
			problem, BENCHMARK_FAILED, "only %llu of %llu stacks reach the root",
			(unsigned long long)found.rooted, (unsigned long long)found.samples);
	/* A few faults beside those asked for, as of the pipe, have other stacks. */
	if (found.most_frames < depths[d])
		return benchmark_problem(problem, BENCHMARK_FAILED,
					 "stacks of %u calls were seen with %u frames", depths[d],
					 found.most_frames);
	k->frames[d] = found.most_frames;
	k->kernel_frames = (double)found.kernel_frames / (double)found.samples;
	return BENCHMARK_OK;
}

/*
 * The program also runs, shortly, for page faults of others on this CPU. Batches are so
 * small that most see none of these; the others are left out.
 */
static enum benchmark_status count_batches(struct kernel_bench *k, struct attachment *a, size_t d,
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
			status = fault(k, depths[d], BATCH, &unused, problem);
		if (!status)
			status = program_counters(a->program, &after, problem);
		if (!status && after.runs - before.runs == BATCH && after.run_ns > before.run_ns)
			clean[n++] = (double)(after.run_ns - before.run_ns) / BATCH;
	}
	*faults = tries * BATCH;
	if (status)
		return status;
	k->tries += tries;
	k->clean += n;
	if (n < BATCHES / 4)
		return benchmark_problem(problem, BENCHMARK_FAILED,
					 "%zu of %zu looks at the statistics were free of other "
					 "processes' page faults; the machine is too busy",
					 n, tries);
	*run_ns = statistics_median(clean, n);
	return BENCHMARK_OK;
}

/* Run time as the kernel counts it: apart, as counting costs time itself. */
static enum benchmark_status count_runs(struct kernel_bench *k, struct attachment *a,
					uint64_t *fired, struct round *round,
					struct benchmark_problem *problem)
{
	int statistics = program_enable_statistics(problem);
	enum benchmark_status status = statistics < 0 ? BENCHMARK_UNAVAILABLE : BENCHMARK_OK;

	for (size_t d = 0; d < DEPTHS && !status; d++) {
		uint64_t faults;

		status = count_batches(k, a, d, &round->run_ns[d], &faults, problem);
		if (!status)
			status = check_samples(k, a, fired, d, faults, problem);
	}
	if (statistics >= 0)
		close(statistics);
	return status;
}

static enum benchmark_status with_sampler(struct kernel_bench *k, struct round *round,
					  struct benchmark_problem *problem)
{
	struct attachment a = { 0 };
	enum benchmark_status status = attachment_sampler(
		&a, &k->worker, k->cpu, "page-faults/period=1/", k->way->unwind_by, problem);
	uint64_t fired = 0;

	for (size_t d = 0; d < DEPTHS && !status; d++) {
		status = fault_typically(k, depths[d], &round->fault_ns[SAMPLER][d], problem);
		if (!status)
			status = check_samples(k, &a, &fired, d, FAULTS, problem);
	}
	if (!status)
		status = count_runs(k, &a, &fired, round, problem);
	if (!status)
		status = program_sizes(a.program, &k->sizes, problem);
	k->load_ns[k->round_count] = a.load_ns;
	attachment_release(&a);
	return status;
}

static enum benchmark_status with_trivial(struct kernel_bench *k, struct round *round,
					  struct benchmark_problem *problem)
{
	struct attachment a = { 0 };
	enum benchmark_status status = attachment_trivial(&a, k->cpu, problem);

	if (!status)
		status = fault_at_all(k, round->fault_ns[TRIVIAL], problem);
	attachment_release(&a);
	return status;
}

/* Every fault must have become a sample with its stack, here, too. */
static enum benchmark_status check_perf(const struct kernel_bench *k,
					struct benchmark_problem *problem)
{
	const struct perf_stacks_found *found = &k->perf_found;

	if (found->samples < DEPTHS * FAULTS || found->lost)
		return benchmark_problem(problem, BENCHMARK_FAILED,
					 "%d page faults gave %llu samples of perf's, %llu lost",
					 DEPTHS * FAULTS, (unsigned long long)found->samples,
					 (unsigned long long)found->lost);
	if (k->way->perf == PERF_STACKS_CALL_CHAIN && found->most_frames < depths[DEPTHS - 1])
		return benchmark_problem(problem, BENCHMARK_FAILED,
					 "stacks of %u calls were seen by perf with %llu frames",
					 depths[DEPTHS - 1],
					 (unsigned long long)found->most_frames);
	return BENCHMARK_OK;
}

static enum benchmark_status with_perf(struct kernel_bench *k, struct round *round,
				       struct benchmark_problem *problem)
{
	const struct perf_stacks_options options = {
		.kind = k->way->perf,
		.event = PERF_COUNT_SW_PAGE_FAULTS,
		.period = 1,
		.pid = k->worker.pid,
		.cpu = k->cpu,
		.ring_bytes = PERF_RING_BYTES,
	};
	enum benchmark_status status;
	struct perf_stacks p;
	int error = perf_stacks_open(&p, &options);

	if (error)
		return benchmark_problem(problem, BENCHMARK_UNAVAILABLE,
					 "cannot open perf's event: %s", strerror(-error));
	k->perf = &p;
	k->perf_found = (struct perf_stacks_found){ 0 };
	status = fault_at_all(k, round->fault_ns[PERF], problem);
	k->perf = NULL;
	perf_stacks_release(&p);
	return status ? status : check_perf(k, problem);
}

/* The states in one order in even rounds and in the other in odd ones, so that drift cancels. */
static enum benchmark_status take_round(struct kernel_bench *k, struct benchmark_problem *problem)
{
	struct round *round = &k->rounds[k->round_count];
	enum benchmark_status status = BENCHMARK_OK;

	for (int i = 0; i < STATES && !status; i++) {
		enum state state = k->round_count % 2 ? STATES - 1 - i : i;

		if (state == NOTHING)
			status = fault_at_all(k, round->fault_ns[NOTHING], problem);
		else if (state == TRIVIAL)
			status = with_trivial(k, round, problem);
		else if (state == PERF)
			status = with_perf(k, round, problem);
		else
			status = with_sampler(k, round, problem);
	}
	k->round_count++;
	return status;
}

/* -------- what comes out -------- */

static double run_time(const struct round *r, size_t d)
{
	return r->run_ns[d];
}

static double all_in(const struct round *r, size_t d)
{
	return r->fault_ns[SAMPLER][d] - r->fault_ns[NOTHING][d];
}

static double program_only(const struct round *r, size_t d)
{
	return r->fault_ns[SAMPLER][d] - r->fault_ns[TRIVIAL][d];
}

static double perf_all_in(const struct round *r, size_t d)
{
	return r->fault_ns[PERF][d] - r->fault_ns[NOTHING][d];
}

struct cost {
	struct estimate fixed, frame;
};

/*
 * The line through the medians over the rounds of each depth. What is resampled is rounds,
 * each with all of its depths, as what disturbs a round disturbs all of it.
 */
static void fit_medians(const struct kernel_bench *k, double (*value)(const struct round *, size_t),
			const size_t *chosen, double *a, double *b)
{
	double y[DEPTHS], of_rounds[ROUNDS_MOST];
	struct line line = { NAN, NAN, 0, 0, 0 };

	for (size_t d = 0; d < DEPTHS; d++) {
		for (size_t i = 0; i < k->round_count; i++)
			of_rounds[i] = value(&k->rounds[chosen[i]], d);
		y[d] = statistics_median(of_rounds, k->round_count);
	}
	statistics_line(k->frames, y, DEPTHS, &line);
	*a = line.a;
	*b = line.b;
}

static struct estimate interval(double value, double *resampled, size_t n)
{
	statistics_sort(resampled, n);
	return (struct estimate){ value, statistics_quantile(resampled, n, 0.025),
				  statistics_quantile(resampled, n, 0.975) };
}

static struct cost fit(const struct kernel_bench *k, double (*value)(const struct round *, size_t))
{
	enum { RESAMPLES = 2000 };
	static double fixed[RESAMPLES], frame[RESAMPLES];
	size_t chosen[ROUNDS_MOST];
	struct random r;
	double a, b;

	random_seed(&r, k->settings->seed);
	for (size_t i = 0; i < RESAMPLES; i++) {
		for (size_t j = 0; j < k->round_count; j++)
			chosen[j] = random_below(&r, k->round_count);
		fit_medians(k, value, chosen, &fixed[i], &frame[i]);
	}
	for (size_t j = 0; j < k->round_count; j++)
		chosen[j] = j;
	fit_medians(k, value, chosen, &a, &b);
	return (struct cost){ interval(a, fixed, RESAMPLES), interval(b, frame, RESAMPLES) };
}

static int print_cost(struct kernel_bench *k, const char *way, const struct cost *c)
{
	char name[96];
	int failed;

	output_line("  %-10s a = [%s %s %s] + b = [%s %s %s] x user frames", way,
		    output_time(c->fixed.low), output_time(c->fixed.value),
		    output_time(c->fixed.high), output_time(c->frame.low),
		    output_time(c->frame.value), output_time(c->frame.high));
	snprintf(name, sizeof(name), "kernel/%s/%s/fixed", k->way->name, way);
	failed = results_estimate(&k->results, name, "latency", c->fixed);
	snprintf(name, sizeof(name), "kernel/%s/%s/frame", k->way->name, way);
	return failed | results_estimate(&k->results, name, "latency", c->frame);
}

static void print_depths(const struct kernel_bench *k)
{
	output_line("  user frames  fault alone  with nothing-program  with sampler    with perf  "
		    "run time");
	for (size_t d = 0; d < DEPTHS; d++) {
		double median[STATES + 1], of_rounds[ROUNDS_MOST];

		for (int state = 0; state <= STATES; state++) {
			for (size_t i = 0; i < k->round_count; i++)
				of_rounds[i] = state < STATES ? k->rounds[i].fault_ns[state][d]
							      : k->rounds[i].run_ns[d];
			median[state] = statistics_median(of_rounds, k->round_count);
		}
		output_line("  %11.0f  %11s  %20s  %12s  %11s  %8s", k->frames[d],
			    output_time(median[0]), output_time(median[1]), output_time(median[2]),
			    output_time(median[3]), output_time(median[4]));
	}
}

/*
 * How far the two ways to measure the program agree: within rounds, as the machine may change
 * its speed from one to the next.
 */
static int print_agreement(const struct kernel_bench *k)
{
	const struct bootstrap bootstrap = { k->settings->seed, 2000, 0.95 };
	double per_frame[ROUNDS_MOST], at_64[ROUNDS_MOST], y[DEPTHS];
	struct estimate frame, whole;

	for (size_t i = 0; i < k->round_count; i++) {
		struct line counted, own;

		statistics_line(k->frames, k->rounds[i].run_ns, DEPTHS, &counted);
		for (size_t d = 0; d < DEPTHS; d++)
			y[d] = program_only(&k->rounds[i], d);
		statistics_line(k->frames, y, DEPTHS, &own);
		per_frame[i] = own.b / counted.b - 1;
		at_64[i] = (own.a + 64 * own.b) / (counted.a + 64 * counted.b) - 1;
	}
	if (bootstrap_median(&bootstrap, per_frame, k->round_count, &frame) ||
	    bootstrap_median(&bootstrap, at_64, k->round_count, &whole))
		return -1;
	output_line("  within rounds, program differs from run-time by [%s %s %s] per frame, "
		    "[%s %s %s] at 64 frames",
		    output_percent(frame.low), output_percent(frame.value),
		    output_percent(frame.high), output_percent(whole.low),
		    output_percent(whole.value), output_percent(whole.high));
	return 0;
}

static enum benchmark_status conclude(struct kernel_bench *k, struct benchmark_problem *problem)
{
	struct cost counted = fit(k, run_time), all = fit(k, all_in), own = fit(k, program_only);
	struct cost perf = fit(k, perf_all_in);
	char name[96];

	output_line("ns per sample, user stacks by %s, %zu rounds, %.1f kernel frames each:",
		    k->way->name, k->round_count, k->kernel_frames);
	print_depths(k);
	if (print_cost(k, "run-time", &counted) || print_cost(k, "all-in", &all) ||
	    print_cost(k, "program", &own) || print_agreement(k))
		return benchmark_problem(problem, BENCHMARK_FAILED, "yields no usable number");
	output_line("  beside it, all-in: the kernel's part of %s, %.0f bytes a sample",
		    k->way->perf_command,
		    (double)k->perf_found.bytes / (double)k->perf_found.samples);
	if (print_cost(k, k->way->perf_slug, &perf))
		return benchmark_problem(problem, BENCHMARK_FAILED, "yields no usable number");
	if (k->settings->verbose)
		output_line("  %zu of %zu looks at the statistics had no runs for other processes",
			    k->clean, k->tries);
	output_line("  loading and verifying %s; verified %s, JIT %s bytes, maps %s bytes",
		    output_time(statistics_median(k->load_ns, k->round_count)),
		    k->sizes.verified ? output_count(k->sizes.verified) : "not available",
		    k->sizes.jited ? output_count(k->sizes.jited) : "not available",
		    output_count((double)k->sizes.map_bytes));
	snprintf(name, sizeof(name), "kernel/%s/load", k->way->name);
	results_value(&k->results, name, "latency", statistics_median(k->load_ns, k->round_count));
	if (k->sizes.verified)
		results_value(&k->results, name, "verified-instructions", k->sizes.verified);
	if (k->sizes.jited)
		results_value(&k->results, name, "jited-bytes", k->sizes.jited);
	results_value(&k->results, name, "map-bytes", (double)k->sizes.map_bytes);
	return BENCHMARK_OK;
}

/* Work of a tenth of a second at six rates, in as many rounds as fit into the time. */
static enum benchmark_status timer_slope(struct kernel_bench *k, enum perf_stacks_kind perf,
					 struct benchmark_problem *problem)
{
	double seconds = k->settings->seconds > 0 ? k->settings->seconds : 20;
	const struct frequency_options options = {
		.seed = k->settings->seed,
		.cpu = k->cpu,
		.rounds = (size_t)fmax(3, fmin(seconds / 2, 40)),
		.seconds = fmax(0.02, fmin(0.15, seconds / 20)),
		.depth = depths[2],
		.unwind_by = k->way->unwind_by,
		.perf = perf,
	};
	const char *who = perf ? k->way->perf_slug : "prof";
	struct frequency_result result;
	enum benchmark_status status = frequency_measure(&options, &result, problem);
	char name[96];

	if (status)
		return status;
	output_line("  timer      [%s %s %s] per sample of %s, %u calls deep, by %s",
		    output_time(result.ns.low), output_time(result.ns.value),
		    output_time(result.ns.high), who, options.depth,
		    result.by_cpu_time ? "CPU time with its interrupts" : "elapsed time");
	snprintf(name, sizeof(name), "kernel/%s/%s%stimer", k->way->name, perf ? who : "",
		 perf ? "-" : "");
	/* On a machine too busy to see a slope there is none. */
	if (!(result.ns.low > 0))
		output_line("            not available: the machine is too busy to tell");
	else if (results_estimate(&k->results, name, "latency", result.ns))
		return benchmark_problem(problem, BENCHMARK_FAILED, "no memory");
	return BENCHMARK_OK;
}

/* One look at a batch of waits: ns per wait of both programs. */
static enum benchmark_status count_waits(struct kernel_bench *k, struct attachment *a, size_t d,
					 double *ns, struct benchmark_problem *problem)
{
	struct program_counters before[2], after[2];
	enum benchmark_status status = program_counters(a->departure, &before[0], problem);
	double unused;

	if (!status)
		status = program_counters(a->program, &before[1], problem);
	if (!status && worker_do(&k->worker, WORKER_SLEEP, depths[d], BATCH, &unused))
		status = benchmark_problem(problem, BENCHMARK_FAILED, "the worker ended");
	if (!status)
		status = program_counters(a->departure, &after[0], problem);
	if (!status)
		status = program_counters(a->program, &after[1], problem);
	*ns = (double)(after[0].run_ns - before[0].run_ns + after[1].run_ns - before[1].run_ns) /
	      BATCH;
	return status;
}

/* The typical wait of one depth; its samples are looked at. */
static enum benchmark_status wait_typically(struct kernel_bench *k, struct attachment *a, size_t d,
					    double *frames, double *ns,
					    struct benchmark_problem *problem)
{
	enum benchmark_status status = BENCHMARK_OK;
	struct attachment_samples found;
	double batches[BATCHES];

	for (size_t i = 0; i < BATCHES && !status; i++)
		status = count_waits(k, a, d, &batches[i], problem);
	if (!status)
		status = attachment_drain(a, &found, problem);
	if (status)
		return status;
	/* A wait may be over before it begins. */
	if (found.samples < BATCH * BATCHES * 9 / 10 || found.most_frames < depths[d])
		return benchmark_problem(
			problem, BENCHMARK_FAILED,
			"%d waits at depth %u gave %llu samples of up to %u frames",
			BATCH * BATCHES, depths[d], (unsigned long long)found.samples,
			found.most_frames);
	*frames = found.most_frames;
	*ns = statistics_median(batches, BATCHES) * BATCH * BATCHES / (double)found.samples;
	return BENCHMARK_OK;
}

/*
 * What a wait costs with --off-cpu: the run time of the programs at both of its ends. They
 * also run, shortly, at switches of others, which on a quiet machine are few.
 */
static enum benchmark_status waits(struct kernel_bench *k, struct benchmark_problem *problem)
{
	enum { ROUNDS = 4 };
	const struct bootstrap bootstrap = { k->settings->seed, 2000, 0.95 };
	double frames[ROUNDS * DEPTHS], ns[ROUNDS * DEPTHS];
	struct attachment a = { 0 };
	enum benchmark_status status = attachment_waits(&a, &k->worker, problem);
	int statistics = status ? -1 : program_enable_statistics(problem);
	struct attachment_samples before;
	struct cost c;

	if (!status && statistics < 0)
		status = BENCHMARK_UNAVAILABLE;
	if (!status)
		status = attachment_drain(&a, &before, problem);
	for (size_t i = 0; i < ROUNDS * DEPTHS && !status; i++)
		status = wait_typically(k, &a, i % DEPTHS, &frames[i], &ns[i], problem);
	if (statistics >= 0)
		close(statistics);
	attachment_release(&a);
	if (!status && bootstrap_line(&bootstrap, frames, ns, ROUNDS * DEPTHS, &c.fixed, &c.frame))
		status = benchmark_problem(problem, BENCHMARK_FAILED, "no memory");
	if (status == BENCHMARK_UNAVAILABLE) {
		output_line("  off-cpu   not available: %s", problem->text);
		return BENCHMARK_OK;
	}
	if (!status && print_cost(k, "off-cpu", &c))
		status = benchmark_problem(problem, BENCHMARK_FAILED, "yields no usable number");
	return status;
}

/* The code for a wait by test runs, in the two ways in which a sample is measured. */
static enum benchmark_status test_waits(struct kernel_bench *k, struct benchmark_problem *problem)
{
	struct wait_runs_result result;
	enum benchmark_status status = wait_runs_measure(&k->worker, k->settings->seed, depths,
							 DEPTHS, &result, problem);
	const struct cost counted = { result.counted.fixed, result.counted.frame };
	const struct cost difference = { result.difference.fixed, result.difference.frame };

	if (status == BENCHMARK_UNAVAILABLE) {
		output_line("  off-cpu by test runs: not available: %s", problem->text);
		return BENCHMARK_OK;
	}
	if (!status &&
	    (print_cost(k, "test-run", &counted) || print_cost(k, "test-run-program", &difference)))
		status = benchmark_problem(problem, BENCHMARK_FAILED, "yields no usable number");
	return status;
}

static enum benchmark_status measure(struct kernel_bench *k, struct benchmark_problem *problem)
{
	double rounds = (k->settings->seconds > 0 ? k->settings->seconds : 20) / 0.8,
	       unused[DEPTHS];
	size_t wanted = rounds < ROUNDS_LEAST  ? ROUNDS_LEAST
			: rounds > ROUNDS_MOST ? ROUNDS_MOST
					       : (size_t)rounds;
	enum benchmark_status status;
	int error = worker_start(&k->worker, k->cpu);

	if (error)
		return benchmark_problem(problem, BENCHMARK_FAILED, "cannot start a worker: %s",
					 strerror(-error));
	/* Its own stack and pages become its own at the first touch. */
	status = fault_at_all(k, unused, problem);
	while (k->round_count < wanted && !status)
		status = take_round(k, problem);
	if (!status)
		status = conclude(k, problem);
	if (!status && k->way->unwind_by == UNWIND_BY_TABLES)
		status = waits(k, problem);
	if (!status && k->way->unwind_by == UNWIND_BY_TABLES)
		status = test_waits(k, problem);
	worker_stop(&k->worker);
	if (!status)
		status = timer_slope(k, PERF_STACKS_NONE, problem);
	return status ? status : timer_slope(k, k->way->perf, problem);
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
		struct benchmark_problem problem = { "no memory" };
		enum benchmark_status status = BENCHMARK_FAILED;

		if (k) {
			k->settings = s;
			k->way = &ways[i];
			k->cpu = worker_choose_cpu();
			k->results = results;
			status = measure(k, &problem);
			results = k->results;
		}
		free(k);
		if (status) {
			message_error("kernel/%s: %s%s", ways[i].name,
				      status == BENCHMARK_UNAVAILABLE ? "not available: " : "",
				      problem.text);
			verdict = VERDICT_ERROR;
		}
	}
	if (verdict == VERDICT_FINE)
		verdict = output_bmf(&results);
	results_release(&results);
	return verdict;
}
