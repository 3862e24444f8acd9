/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_STATISTICS_STATISTICS_H
#define BENCH_STATISTICS_STATISTICS_H

/*
 * Descriptive statistics of measured numbers. Arrays are not changed unless the comment of a
 * function says so; results that do not exist (the variance of one number) are NaN, never 0.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value with a range it lies in with some confidence. */
struct estimate {
	double value;
	double low, high;
};

double statistics_mean(const double *x, size_t n);
/* With n - 1; NaN for fewer than two. */
double statistics_variance(const double *x, size_t n);
double statistics_deviation(const double *x, size_t n);

/* Sorts in place, smallest first. */
void statistics_sort(double *x, size_t n);

/* The quantile `p` of sorted numbers, interpolated at rank p * (n - 1) (R's type 7). */
double statistics_quantile(const double *sorted, size_t n, double p);

/* Of numbers in any order; without memory NaN. */
double statistics_median(const double *x, size_t n);
/* Median absolute deviation, scaled by 1.4826 to be a standard deviation for normal data. */
double statistics_mad(const double *x, size_t n);

/* The slope of y = slope * x. */
double statistics_slope(const double *x, const double *y, size_t n);
/* Of that line: 1 - residual sum of squares / total sum of squares about the mean. */
double statistics_slope_r2(const double *x, const double *y, size_t n, double slope);

/* y = a + b * x by least squares, with standard errors; false when it is not determined. */
struct line {
	double a, b;
	double a_error, b_error;
	double r2;
};
bool statistics_line(const double *x, const double *y, size_t n, struct line *line);

/* Tukey's fences: mild outside of 1.5 interquartile ranges of the quartiles, severe of 3. */
struct outliers {
	size_t low_severe, low_mild, high_mild, high_severe;
};
struct outliers statistics_outliers(const double *x, size_t n);

static inline size_t outliers_total(const struct outliers *o)
{
	return o->low_severe + o->low_mild + o->high_mild + o->high_severe;
}

#endif
