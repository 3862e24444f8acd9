/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/measure/measurement.h"

#include "bench/measure/child.h"
#include "bench/measure/reference.h"
#include "common/clock.h"

#include <math.h>
#include <stdlib.h>

/* A change that is smaller is noise, however sure: Criterion's number. */
#define NOISE 0.01
#define SAME_SPEED 0.05 /* largest change of the reference loop, as a share */
#define DISTURBED 0.02	/* the share of its time that a run may have waited for a CPU */

void measurement_release(struct measurement *m)
{
	free(m->iterations);
	free(m->ns);
	free(m->reference);
	*m = (struct measurement){ 0 };
}

static uint64_t now(const struct measurement_options *options, const struct benchmark *b)
{
	if (options->cpu_time && b->in_children)
		return child_cpu_ns();
	return clock_ns(options->cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC_RAW);
}

static double timed(const struct measurement_options *options, const struct benchmark *b,
		    void *state, uint64_t iterations)
{
	uint64_t start = now(options, b);

	benchmark_measured(b, state, iterations);
	return (double)(now(options, b) - start);
}

static void run_nothing(void *state, uint64_t iterations)
{
	(void)state;
	(void)iterations;
}

double measurement_overhead(const struct measurement_options *options)
{
	static const struct benchmark nothing = { .name = "nothing", .run = run_nothing };
	double ns[1001];

	for (size_t i = 0; i < 1001; i++)
		ns[i] = timed(options, &nothing, NULL, 1);
	return statistics_median(ns, 1001);
}

/*
 * ns per iteration, after the time for warming up. It is elapsed time, because CPU time may not
 * pass: commands sleep, and one that has failed is not run again.
 */
static double warm_up(const struct measurement_options *options, const struct benchmark *b,
		      void *state)
{
	uint64_t iterations = 1, done = 0, elapsed, start = clock_ns(CLOCK_MONOTONIC_RAW);

	for (;;) {
		benchmark_measured(b, state, iterations);
		done += iterations;
		elapsed = clock_ns(CLOCK_MONOTONIC_RAW) - start;
		if ((double)elapsed >= options->warm_up_seconds * 1e9)
			return (double)elapsed / (double)done;
		if (iterations < UINT64_C(1) << 40)
			iterations *= 2;
	}
}

int measurement_plan(struct measurement *m, const struct measurement_options *options,
		     double iteration_ns)
{
	double n = (double)options->count, steps = n * (n + 1) / 2;
	double target = options->seconds * 1e9;
	double each = fmax(iteration_ns, 1e-3);
	double step = fmax(1, ceil(target / each / steps)), total;

	m->n = options->count;
	m->iterations = calloc(m->n, sizeof(*m->iterations));
	m->ns = calloc(m->n, sizeof(*m->ns));
	m->reference = calloc(m->n, sizeof(*m->reference));
	if (!m->iterations || !m->ns || !m->reference)
		return -1;
	m->linear = step * steps * each <= 2 * target;
	if (!m->linear)
		step = fmax(1, ceil(target / each / n));
	for (size_t i = 0; i < m->n; i++)
		m->iterations[i] = m->linear ? step * (double)(i + 1) : step;
	total = (m->linear ? steps : n) * step * each;
	if (step == 1 && total > 1.05 * target) {
		m->needed_seconds = ceil(total / 1e8) / 10;
		/* n (n + 1) / 2 iterations are made by n linear measurements. */
		m->fitting_count = (size_t)(m->linear ? sqrt(2 * target / each) : target / each);
		m->fitting_count -= m->fitting_count > 10 ? m->fitting_count % 10 : 0;
	}
	return 0;
}

/* A command may take seconds: as many measurements as fit into the time, but ten. */
static const struct measurement_options *fewer(const struct measurement_options *options,
					       double each, struct measurement_options *fitting)
{
	*fitting = *options;
	fitting->count = (size_t)fmin((double)options->count,
				      fmax(10, options->seconds * 1e9 / each));
	return fitting;
}

/* How long the work waited so far for CPUs that others had. */
static double waited_ns(const struct benchmark *b, void *state)
{
	return b->waited_ns ? b->waited_ns(state) : reference_waited_ns("thread-self");
}

int measurement_take(struct measurement *m, const struct measurement_options *options,
		     const struct benchmark *b, void *state)
{
	double each = warm_up(options, b, state), started, waited;
	struct measurement_options fitting;

	if (measurement_plan(m, b->in_children ? fewer(options, each, &fitting) : options, each))
		return -1;
	started = (double)clock_ns(CLOCK_MONOTONIC_RAW);
	waited = waited_ns(b, state);
	for (size_t i = 0; i < m->n; i++) {
		m->reference[i] = reference_ns();
		m->ns[i] = fmax(0, timed(options, b, state, (uint64_t)m->iterations[i]) -
					   options->overhead_ns);
	}
	/* CPU time does not pass while others have the CPU. */
	m->waited = options->cpu_time ? 0
				      : (waited_ns(b, state) - waited) /
						((double)clock_ns(CLOCK_MONOTONIC_RAW) - started);
	return 0;
}

/* Time per iteration of each measurement, to be freed; NULL without memory. */
static double *averages_of(const struct measurement *m)
{
	double *averages = m->n ? malloc(m->n * sizeof(*averages)) : NULL;

	for (size_t i = 0; averages && i < m->n; i++)
		averages[i] = m->ns[i] / m->iterations[i];
	return averages;
}

static double reach(const struct estimate *e)
{
	return fmax(fabs(e->low), fabs(e->high));
}

/* Also if it is not known. */
static bool disturbed(const struct measurement *m)
{
	return !(m->waited <= DISTURBED);
}

static int compare_references(const struct bootstrap *bootstrap, const struct measurement *before,
			      const struct measurement *now, struct measurement_change *change)
{
	struct bootstrap_change found;

	change->reference = (struct estimate){ NAN, NAN, NAN };
	change->comparable = MEASUREMENT_NO_REFERENCE;
	if (!before->reference || !now->reference)
		return 0;
	if (bootstrap_change(bootstrap, &(struct bootstrap_group){ before->reference, before->n },
			     &(struct bootstrap_group){ now->reference, now->n }, &found))
		return -1;
	change->reference = found.median;
	change->comparable = disturbed(before)			 ? MEASUREMENT_WAS_DISTURBED
			     : disturbed(now)			 ? MEASUREMENT_DISTURBED
			     : reach(&found.median) > SAME_SPEED ? MEASUREMENT_OTHER_SPEED
								 : MEASUREMENT_COMPARABLE;
	/* The mean includes the disturbance by other tasks. */
	change->noise = fmax(NOISE, fmax(reach(&found.median), reach(&found.mean)));
	return 0;
}

int measurement_compare(const struct bootstrap *bootstrap, const struct measurement *before,
			const struct measurement *now, struct measurement_change *change)
{
	double *x = averages_of(before), *y = averages_of(now);
	const struct bootstrap_group earlier = { x, before->n }, later = { y, now->n };
	int status = -1;

	if (x && y && !compare_references(bootstrap, before, now, change) &&
	    !bootstrap_change(bootstrap, &earlier, &later, &change->change))
		status = 0;
	free(x);
	free(y);
	return status;
}

int measurement_summarize(const struct measurement *m, const struct bootstrap *bootstrap,
			  struct measurement_summary *summary)
{
	double *averages = averages_of(m);
	int status = -1;

	if (!averages || bootstrap_estimates(bootstrap, averages, m->n, &summary->each))
		goto out;
	summary->outliers = statistics_outliers(averages, m->n);
	summary->typical = summary->each.mean;
	summary->r2 = NAN;
	if (m->linear) {
		const struct points points = { m->iterations, m->ns, m->n };

		if (bootstrap_slope(bootstrap, &points, &summary->typical))
			goto out;
		summary->r2 = statistics_slope_r2(m->iterations, m->ns, m->n,
						  summary->typical.value);
	}
	status = 0;
out:
	free(averages);
	return status;
}
