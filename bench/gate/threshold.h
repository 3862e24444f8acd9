/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_GATE_THRESHOLD_H
#define BENCH_GATE_THRESHOLD_H

/*
 * Limits for the next value, from those before it: the seven tests of Bencher, with the same
 * results. Where Bencher silently gives no verdict, the status here says why.
 *
 *     static      the boundaries themselves
 *     percentage  mean * (1 -/+ boundary)
 *     z_score     the normal distribution's quantile `boundary` (0.5 <= boundary < 1)
 *     t_test      Student's prediction interval for one more value, quantile `boundary`
 *     log_normal  the log-normal distribution's quantile; the lower limit mirrors the upper
 *     iqr         median -/+ boundary * interquartile range
 *     delta_iqr   median * (1 -/+ boundary * interquartile range of relative steps)
 *
 * A thresholds file holds one rule a line, and the first whose pattern and measure match a result
 * judges it:
 *
 *     # benchmark  measure       test        lower  upper  further
 *     format/[a-z]*   latency       t_test      -      0.99   min=5 max=64
 *     *            instructions  percentage  -      0.01   max=1
 *
 * Patterns are those of the shell; "-" is no boundary; min= and max= bound how many earlier values
 * are used, window= (seconds, or 30d) how old they may be. With find=0.1 a value passes only if a
 * change by 10 % would have been seen: limits as wide as the noise of a machine pass everything.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum threshold_test {
	THRESHOLD_STATIC,
	THRESHOLD_PERCENTAGE,
	THRESHOLD_Z_SCORE,
	THRESHOLD_T_TEST,
	THRESHOLD_LOG_NORMAL,
	THRESHOLD_IQR,
	THRESHOLD_DELTA_IQR,
	THRESHOLD_TESTS
};

const char *threshold_test_name(enum threshold_test test);

struct threshold {
	char *benchmark, *measure; /* patterns */
	enum threshold_test test;
	bool has_lower, has_upper;
	double lower, upper;
	double find; /* the change, as a share, that must not pass unseen; 0: none is named */
	size_t least, most; /* values; most 0: all */
	uint64_t window;    /* seconds; 0: of any age */
};

enum threshold_status {
	THRESHOLD_OK,
	THRESHOLD_TOO_FEW,	/* values before it */
	THRESHOLD_NO_VARIANCE,	/* a constant history has no standard deviation */
	THRESHOLD_NOT_POSITIVE, /* log_normal of a value that is 0 or less */
	THRESHOLD_OVERFLOW,	/* the limits are too large for a number */
};

struct limits {
	enum threshold_status status; /* unless it is OK there are no limits */
	double baseline;	      /* mean or median; NaN for static */
	bool has_lower, has_upper;
	double lower, upper;
	double blur; /* how far the true value may be from a measured one, with 99 % confidence on
			each side */
};

/* How many earlier values it takes before there are limits: `least`, or what the test needs. */
size_t threshold_needed(const struct threshold *t);

/*
 * From `n` earlier values, oldest first. `least` and `most` are applied here. The only error is
 * a lack of memory: too little history is a status.
 */
struct error *threshold_limits(const struct threshold *t, const double *values, size_t n,
			       struct limits *limits) ERROR_CHECKED;

enum limits_verdict {
	LIMITS_HOLD, /* also for a value on the limit */
	LIMITS_BROKEN,
	LIMITS_BLURRED, /* within them, but `find` may be hidden in the spread of the values */
};
enum limits_verdict limits_judge(const struct limits *limits, const struct threshold *t,
				 double value);

/*
 * How many earlier values would turn LIMITS_BLURRED into a clear verdict, if their spread stays the
 * same; 0: no number would, as this benchmark is too noisy for `find`. For tests that use the
 * standard deviation.
 */
size_t limits_needed(const struct limits *limits, const struct threshold *t, double value,
		     size_t n);

/* Starts as { 0 }. */
struct thresholds {
	struct threshold *all;
	size_t count;
};

struct error *thresholds_read(struct thresholds *t, const char *path) ERROR_CHECKED;
void thresholds_release(struct thresholds *t);

/* The first that matches, or NULL. */
const struct threshold *thresholds_find(const struct thresholds *t, const char *benchmark,
					const char *measure);

#endif
