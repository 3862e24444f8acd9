/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/statistics/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double statistics_mean(const double *x, size_t n)
{
	double sum = 0;

	if (!n)
		return NAN;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

double statistics_variance(const double *x, size_t n)
{
	double mean = statistics_mean(x, n);
	double sum = 0;

	if (n < 2)
		return NAN;
	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum / (double)(n - 1);
}

double statistics_deviation(const double *x, size_t n)
{
	return sqrt(statistics_variance(x, n));
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void statistics_sort(double *x, size_t n)
{
	if (n > 1)
		qsort(x, n, sizeof(*x), compare);
}

double statistics_quantile(const double *sorted, size_t n, double p)
{
	double rank = p * (double)(n - 1);
	size_t below;

	if (!n || !(p >= 0 && p <= 1))
		return NAN;
	below = (size_t)rank;
	/* The last number has none after it to interpolate with. */
	if (below + 1 >= n)
		return sorted[n - 1];
	return sorted[below] + (rank - (double)below) * (sorted[below + 1] - sorted[below]);
}

static double *sorted_copy(const double *x, size_t n)
{
	double *copy = n ? malloc(n * sizeof(*copy)) : NULL;

	if (copy) {
		memcpy(copy, x, n * sizeof(*copy));
		statistics_sort(copy, n);
	}
	return copy;
}

double statistics_median(const double *x, size_t n)
{
	double *sorted = sorted_copy(x, n);
	double median = sorted ? statistics_quantile(sorted, n, 0.5) : NAN;

	free(sorted);
	return median;
}

double statistics_mad(const double *x, size_t n)
{
	double *away = n ? malloc(n * sizeof(*away)) : NULL;
	double median = statistics_median(x, n);
	double mad;

	if (!away)
		return NAN;
	for (size_t i = 0; i < n; i++)
		away[i] = fabs(x[i] - median);
	statistics_sort(away, n);
	mad = 1.4826 * statistics_quantile(away, n, 0.5);
	free(away);
	return mad;
}

double statistics_slope(const double *x, const double *y, size_t n)
{
	double xy = 0, xx = 0;

	for (size_t i = 0; i < n; i++) {
		xy += x[i] * y[i];
		xx += x[i] * x[i];
	}
	return xx > 0 ? xy / xx : NAN;
}

double statistics_slope_r2(const double *x, const double *y, size_t n, double slope)
{
	double mean = statistics_mean(y, n);
	double residual = 0, total = 0;

	for (size_t i = 0; i < n; i++) {
		residual += (y[i] - slope * x[i]) * (y[i] - slope * x[i]);
		total += (y[i] - mean) * (y[i] - mean);
	}
	return total > 0 ? 1 - residual / total : NAN;
}

bool statistics_line(const double *x, const double *y, size_t n, struct line *line)
{
	double mx = statistics_mean(x, n), my = statistics_mean(y, n);
	double xx = 0, xy = 0, yy = 0, residual = 0, variance;

	/* By distances from the means: sums of squares would lose the digits that x differ in. */
	for (size_t i = 0; i < n; i++) {
		xx += (x[i] - mx) * (x[i] - mx);
		xy += (x[i] - mx) * (y[i] - my);
		yy += (y[i] - my) * (y[i] - my);
	}
	if (n < 3 || !(xx > 0))
		return false;
	line->b = xy / xx;
	line->a = my - line->b * mx;
	for (size_t i = 0; i < n; i++) {
		double error = y[i] - line->a - line->b * x[i];

		residual += error * error;
	}
	variance = residual / (double)(n - 2);
	line->b_error = sqrt(variance / xx);
	line->a_error = sqrt(variance * (1.0 / (double)n + mx * mx / xx));
	line->r2 = yy > 0 ? 1 - residual / yy : NAN;
	return true;
}

struct outliers statistics_outliers(const double *x, size_t n)
{
	struct outliers found = { 0 };
	double *sorted = sorted_copy(x, n);
	double q1, q3, range;

	if (!sorted)
		return found;
	q1 = statistics_quantile(sorted, n, 0.25);
	q3 = statistics_quantile(sorted, n, 0.75);
	range = q3 - q1;
	for (size_t i = 0; i < n; i++) {
		if (sorted[i] < q1 - 3 * range)
			found.low_severe++;
		else if (sorted[i] < q1 - 1.5 * range)
			found.low_mild++;
		else if (sorted[i] > q3 + 3 * range)
			found.high_severe++;
		else if (sorted[i] > q3 + 1.5 * range)
			found.high_mild++;
	}
	free(sorted);
	return found;
}
