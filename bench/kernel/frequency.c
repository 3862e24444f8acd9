/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/kernel/frequency.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>

#include "bench/statistics/random.h"

#define RATES 6
#define ROUNDS_MOST 40
#define RESAMPLES 2000
#define PERF_RING_BYTES ((size_t)16 << 20) /* holds all samples of one work */

static const unsigned int rates[RATES] = { 0, 99, 499, 999, 1999, 4999 };

/* Time and samples of each rate in one round. */
struct round {
	double ns[RATES], samples[RATES];
};

struct bench {
	const struct frequency_options *options;
	struct worker worker;
	enum worker_task task;
	uint32_t amount;
	struct round rounds[ROUNDS_MOST];
	struct frequency_result *result;
};

/*
 * Whether a thread's CPU time includes the interrupts during its run: it does unless the kernel
 * accounts for them separately. False when that is not known.
 */
static bool cpu_time_has_interrupts(void)
{
	struct utsname name;
	char path[160], line[256];
	bool known = false;
	gzFile f = gzopen("/proc/config.gz", "r");

	if (!f && !uname(&name)) {
		snprintf(path, sizeof(path), "/boot/config-%s", name.release);
		f = gzopen(path, "r");
	}
	while (f && !known && gzgets(f, line, sizeof(line)))
		known = !strcmp(line, "# CONFIG_IRQ_TIME_ACCOUNTING is not set\n");
	if (f)
		gzclose(f);
	return known;
}

static struct error *work(struct bench *b, double *ns)
{
	if (worker_do(&b->worker, &(struct worker_order){ b->task, b->options->depth, b->amount },
		      ns))
		return error_new(ERROR_FAILED, "the worker ended");
	return NULL;
}

static struct error *by_perf(struct bench *b, unsigned int rate, double *ns, double *samples)
{
	const struct perf_stacks_options options = {
		.kind = b->options->perf,
		.event = PERF_COUNT_SW_CPU_CLOCK,
		.period = 1000000000 / rate,
		.pid = b->worker.pid,
		.cpu = b->options->cpu,
		.ring_bytes = PERF_RING_BYTES,
	};
	struct perf_stacks_found found = { 0 };
	struct perf_stacks p;
	struct error *error = perf_stacks_open(&p, &options);

	if (error)
		return error;
	error = work(b, ns);
	perf_stacks_drain(&p, &found);
	perf_stacks_release(&p);
	*samples = (double)found.samples;
	b->result->samples += found.samples;
	b->result->lost += found.lost;
	return error;
}

static struct error *at_rate(struct bench *b, unsigned int rate, double *ns, double *samples)
{
	struct attachment a = { 0 };
	struct attachment_samples found;
	struct error *error;
	char event[48];

	*samples = 0;
	if (!rate)
		return work(b, ns);
	if (b->options->perf)
		return by_perf(b, rate, ns, samples);
	snprintf(event, sizeof(event), "cpu-clock/period=%u/", 1000000000 / rate);
	error = attachment_sampler(
		&a, &b->worker,
		&(struct attachment_options){ event, b->options->cpu, b->options->unwind_by });
	if (!error)
		error = work(b, ns);
	if (!error)
		error = attachment_drain(&a, &found);
	attachment_release(&a);
	if (error)
		return error;
	*samples = (double)found.fired;
	b->result->samples += found.fired;
	b->result->lost += found.lost;
	return NULL;
}

/* Enough rounds of computing for the wanted time. */
static struct error *calibrate(struct bench *b)
{
	struct error *error;
	double ns;

	b->amount = 100000;
	error = work(b, &ns);
	if (!error && ns > 0)
		b->amount = (uint32_t)fmin(4e9, 1 + b->amount * b->options->seconds * 1e9 / ns);
	return error;
}

static double slope(const struct bench *b, const size_t *chosen)
{
	double x[RATES], y[RATES], of_rounds[ROUNDS_MOST];
	struct line line = { .b = NAN };

	for (size_t i = 0; i < RATES; i++) {
		for (size_t j = 0; j < b->options->rounds; j++)
			of_rounds[j] = b->rounds[chosen[j]].samples[i];
		x[i] = statistics_median(of_rounds, b->options->rounds);
		/* Less the same round's work without samples: drift cancels. */
		for (size_t j = 0; j < b->options->rounds; j++)
			of_rounds[j] = b->rounds[chosen[j]].ns[i] - b->rounds[chosen[j]].ns[0];
		y[i] = statistics_median(of_rounds, b->options->rounds);
	}
	statistics_line(x, y, RATES, &line);
	return line.b;
}

static void conclude(struct bench *b)
{
	double slopes[RESAMPLES];
	size_t chosen[ROUNDS_MOST];
	struct random r;

	random_seed(&r, b->options->seed);
	for (size_t i = 0; i < RESAMPLES; i++) {
		for (size_t j = 0; j < b->options->rounds; j++)
			chosen[j] = random_below(&r, b->options->rounds);
		slopes[i] = slope(b, chosen);
	}
	for (size_t j = 0; j < b->options->rounds; j++)
		chosen[j] = j;
	statistics_sort(slopes, RESAMPLES);
	b->result->ns = (struct estimate){ slope(b, chosen),
					   statistics_quantile(slopes, RESAMPLES, 0.025),
					   statistics_quantile(slopes, RESAMPLES, 0.975) };
}

struct error *frequency_measure(const struct frequency_options *options,
				struct frequency_result *result)
{
	struct bench b = { .options = options, .result = result };
	struct error *error;
	struct random r;
	int status;

	memset(result, 0, sizeof(*result));
	if (options->rounds < 2 || options->rounds > ROUNDS_MOST)
		return error_new(ERROR_FAILED, "2 to %d rounds", ROUNDS_MOST);
	result->by_cpu_time = cpu_time_has_interrupts();
	b.task = result->by_cpu_time ? WORKER_SPIN : WORKER_SPIN_ELAPSED;
	status = worker_start(&b.worker, options->cpu);
	if (status)
		return error_system(status, "cannot start a worker");
	random_seed(&r, options->seed);
	error = calibrate(&b);
	for (size_t round = 0; round < options->rounds && !error; round++) {
		size_t first = random_below(&r, RATES);

		for (size_t i = 0; i < RATES && !error; i++) {
			size_t rate = (first + i) % RATES;

			error = at_rate(&b, rates[rate], &b.rounds[round].ns[rate],
					&b.rounds[round].samples[rate]);
		}
	}
	worker_stop(&b.worker);
	if (!error && !result->samples)
		error = error_new(ERROR_FAILED, "no sample came");
	if (!error)
		conclude(&b);
	return error;
}
