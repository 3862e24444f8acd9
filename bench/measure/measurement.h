/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_MEASUREMENT_H
#define BENCH_MEASURE_MEASUREMENT_H

/*
 * Timing a benchmark as Criterion does: warm up by doubling; then `count` measurements
 * whose iterations rise linearly (d, 2d, 3d, ...), so that the slope of time over iterations
 * has no constant part in it; or, where that would take too long, all with the same number.
 * What the harness itself costs per measurement is measured with an empty benchmark and
 * subtracted.
 */

#include "bench/measure/benchmark.h"
#include "bench/statistics/bootstrap.h"

struct measurement_options {
	double seconds, warm_up_seconds;
	size_t count;
};

struct measurement {
	size_t n;
	double *iterations; /* of each measurement */
	double *ns;	    /* that it took, harness overhead subtracted */
	bool linear;
	/* The time was too short: it takes this long, or this many measurements fit (0: none). */
	double needed_seconds;
	size_t fitting_count;
};

/* Starts as { 0 }. */
void measurement_release(struct measurement *m);

/* How many iterations each measurement gets, from the ns of one; fills all but `ns`. */
int measurement_plan(struct measurement *m, const struct measurement_options *options,
		     double iteration_ns);

/* Warms up, plans and measures; -1 without memory. */
int measurement_take(struct measurement *m, const struct measurement_options *options,
		     const struct benchmark *b, void *state, double overhead_ns);

/* ns of one measurement of nothing, the median of many. */
double measurement_overhead(void);

/* ns per iteration: the slope for linear, the mean for flat measurements. */
struct measurement_summary {
	struct estimate typical;
	struct bootstrap_estimates each; /* of the time per iteration of each measurement */
	struct outliers outliers;
	double r2; /* of the slope; NaN for flat */
};
int measurement_summarize(const struct measurement *m, const struct bootstrap *bootstrap,
			  struct measurement_summary *summary);

/* Time per iteration of each measurement, `n` numbers to be freed; NULL without memory. */
double *measurement_averages(const struct measurement *m);

#endif
