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
	bool cpu_time;	    /* of this process, in place of elapsed time */
	double overhead_ns; /* of a measurement of nothing: subtracted from each */
};

struct measurement {
	size_t n;
	double *iterations; /* of each measurement */
	double *ns;	    /* that it took, harness overhead subtracted */
	double *reference;  /* ns of the reference loop just before it; see reference.h */
	double waited; /* the share of the time in which other tasks had the CPU; NaN: not known */
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
		     const struct benchmark *b, void *state);

/* ns of one measurement of nothing, the median of many. */
double measurement_overhead(const struct measurement_options *options);

/*
 * What changed from one run to another. Both ran on the same machine at the same speed only if
 * the reference loop took as long, and undisturbed only if they hardly waited for a CPU. A change
 * of the loop that is small enough is noise for the benchmark.
 */
enum measurement_comparable {
	MEASUREMENT_COMPARABLE,
	MEASUREMENT_NO_REFERENCE,  /* the earlier run did not time the loop */
	MEASUREMENT_WAS_DISTURBED, /* it waited for more than 2 % of its time, or that is not known
				    */
	MEASUREMENT_DISTURBED,	   /* the later run did */
	MEASUREMENT_OTHER_SPEED,   /* the loop's median changed by more than 5 % */
};
struct measurement_change {
	enum measurement_comparable comparable;
	struct estimate reference; /* of the reference loop, as a share; NaN: there is none */
	struct bootstrap_change change;
	double noise; /* a change of the benchmark that is not larger is none */
};
int measurement_compare(const struct bootstrap *bootstrap, const struct measurement *before,
			const struct measurement *now, struct measurement_change *change);

/* ns per iteration: the slope for linear, the mean for flat measurements. */
struct measurement_summary {
	struct estimate typical;
	struct bootstrap_estimates each; /* of the time per iteration of each measurement */
	struct outliers outliers;
	double r2; /* of the slope; NaN for flat */
};
int measurement_summarize(const struct measurement *m, const struct bootstrap *bootstrap,
			  struct measurement_summary *summary);

#endif
