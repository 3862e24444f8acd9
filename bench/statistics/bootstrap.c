/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/statistics/bootstrap.h"

#include <math.h>
#include <stdlib.h>

#include "bench/statistics/random.h"

/* Sorts `values` and takes the interval's ends out of them. */
static struct estimate interval(double value, double *values, size_t n, double confidence)
{
	struct estimate e = { .value = value };

	statistics_sort(values, n);
	e.low = statistics_quantile(values, n, (1 - confidence) / 2);
	e.high = statistics_quantile(values, n, (1 + confidence) / 2);
	return e;
}

static void draw(struct random *r, const double *x, size_t n, double *drawn)
{
	for (size_t i = 0; i < n; i++)
		drawn[i] = x[random_below(r, n)];
}

/* Sorts small arrays in place; the resamples nearly all are. */
static void sort_small(double *x, size_t n)
{
	if (n > 200) {
		statistics_sort(x, n);
		return;
	}
	for (size_t gap = n > 40 ? 23 : n > 10 ? 7 : 1; gap; gap = gap > 7 ? 7 : gap > 1 ? 1 : 0) {
		for (size_t i = gap; i < n; i++) {
			double value = x[i];
			size_t j = i;

			for (; j >= gap && x[j - gap] > value; j -= gap)
				x[j] = x[j - gap];
			x[j] = value;
		}
	}
}

/* Of numbers already sorted: the deviations rise from the median to both sides. */
static double sorted_mad(const double *sorted, size_t n, double *away)
{
	double median = statistics_quantile(sorted, n, 0.5);

	for (size_t i = 0; i < n; i++)
		away[i] = fabs(sorted[i] - median);
	sort_small(away, n);
	return 1.4826 * statistics_quantile(away, n, 0.5);
}

static bool enough(const struct bootstrap *b, size_t n)
{
	return n >= 2 && b->resamples >= 2 && b->resamples <= SIZE_MAX / 64;
}

int bootstrap_estimates(const struct bootstrap *b, const double *x, size_t n,
			struct bootstrap_estimates *result)
{
	size_t m = b->resamples;
	double *values = enough(b, n) ? malloc((4 * m + 2 * n) * sizeof(*values)) : NULL;
	double *drawn, *away;
	struct random r;

	if (!values)
		return -1;
	drawn = values + 4 * m;
	away = drawn + n;
	random_seed(&r, b->seed);
	for (size_t i = 0; i < m; i++) {
		draw(&r, x, n, drawn);
		values[i] = statistics_mean(drawn, n);
		values[2 * m + i] = statistics_deviation(drawn, n);
		sort_small(drawn, n);
		values[m + i] = statistics_quantile(drawn, n, 0.5);
		values[3 * m + i] = sorted_mad(drawn, n, away);
	}
	result->mean = interval(statistics_mean(x, n), values, m, b->confidence);
	result->median = interval(statistics_median(x, n), values + m, m, b->confidence);
	result->deviation = interval(statistics_deviation(x, n), values + 2 * m, m, b->confidence);
	result->mad = interval(statistics_mad(x, n), values + 3 * m, m, b->confidence);
	free(values);
	return 0;
}

int bootstrap_median(const struct bootstrap *b, const double *x, size_t n, struct estimate *result)
{
	double *values = enough(b, n) ? malloc((b->resamples + n) * sizeof(*values)) : NULL;
	double *drawn;
	struct random r;

	if (!values)
		return -1;
	drawn = values + b->resamples;
	random_seed(&r, b->seed);
	for (size_t i = 0; i < b->resamples; i++) {
		draw(&r, x, n, drawn);
		sort_small(drawn, n);
		values[i] = statistics_quantile(drawn, n, 0.5);
	}
	*result = interval(statistics_median(x, n), values, b->resamples, b->confidence);
	free(values);
	return 0;
}

int bootstrap_slope(const struct bootstrap *b, const struct points *points, struct estimate *result)
{
	const double *x = points->x, *y = points->y;
	const size_t n = points->n;
	double *values = enough(b, n) ? malloc(b->resamples * sizeof(*values)) : NULL;
	struct random r;

	if (!values)
		return -1;
	random_seed(&r, b->seed);
	for (size_t i = 0; i < b->resamples; i++) {
		double xy = 0, xx = 0;

		for (size_t j = 0; j < n; j++) {
			size_t k = random_below(&r, n);

			xy += x[k] * y[k];
			xx += x[k] * x[k];
		}
		values[i] = xy / xx;
	}
	*result = interval(statistics_slope(x, y, n), values, b->resamples, b->confidence);
	free(values);
	return 0;
}

int bootstrap_line(const struct bootstrap *b, const struct points *points,
		   struct bootstrap_line *result)
{
	const double *x = points->x, *y = points->y;
	const size_t n = points->n, m = b->resamples;
	double *values;
	double *drawn_x, *drawn_y;
	struct line line, resampled;
	struct random r;

	/* Fewer than three different points give resamples that no line is determined by. */
	if (!enough(b, n) || !statistics_line(x, y, n, &line))
		return -1;
	values = malloc((2 * m + 2 * n) * sizeof(*values));
	if (!values)
		return -1;
	drawn_x = values + 2 * m;
	drawn_y = drawn_x + n;
	random_seed(&r, b->seed);
	for (size_t i = 0; i < m; i++) {
		do {
			for (size_t j = 0; j < n; j++) {
				size_t k = random_below(&r, n);

				drawn_x[j] = x[k];
				drawn_y[j] = y[k];
			}
		} while (!statistics_line(drawn_x, drawn_y, n, &resampled));
		values[i] = resampled.a;
		values[m + i] = resampled.b;
	}
	result->a = interval(line.a, values, m, b->confidence);
	result->b = interval(line.b, values + m, m, b->confidence);
	free(values);
	return 0;
}

static double welch_t(const double *x, size_t n, const double *y, size_t m)
{
	double difference = statistics_mean(x, n) - statistics_mean(y, m);
	double error =
		sqrt(statistics_variance(x, n) / (double)n + statistics_variance(y, m) / (double)m);

	if (error > 0)
		return difference / error;
	return difference == 0 ? 0 : copysign(INFINITY, difference);
}

/* Both groups' numbers, and room for as many that are drawn from them. */
struct pool {
	const double *all;
	size_t n, m; /* the sizes of the groups */
	double *drawn;
};

/* The share of t statistics from the common pool that are at least as far out as `t`. */
static double pooled_p(const struct bootstrap *b, const struct pool *pool, double t)
{
	double *drawn = pool->drawn;
	struct random r;
	size_t beyond = 0;

	random_seed(&r, b->seed ^ 0x706f6f6c);
	for (size_t i = 0; i < b->resamples; i++) {
		draw(&r, pool->all, pool->n + pool->m, drawn);
		if (fabs(welch_t(drawn, pool->n, drawn + pool->n, pool->m)) >= fabs(t))
			beyond++;
	}
	return (double)beyond / (double)b->resamples;
}

int bootstrap_change(const struct bootstrap *b, const struct bootstrap_group *earlier,
		     const struct bootstrap_group *later, struct bootstrap_change *result)
{
	const double *before = earlier->x, *after = later->x;
	const size_t before_n = earlier->n, after_n = later->n;
	size_t total = before_n + after_n, m = b->resamples;
	double *values;
	double *pool, *drawn;
	struct random r;

	if (!enough(b, before_n) || !enough(b, after_n))
		return -1;
	values = malloc((2 * m + 2 * total) * sizeof(*values));
	if (!values)
		return -1;
	pool = values + 2 * m;
	drawn = pool + total;
	for (size_t i = 0; i < total; i++)
		pool[i] = i < after_n ? after[i] : before[i - after_n];
	result->t = welch_t(after, after_n, before, before_n);
	result->p = pooled_p(b, &(struct pool){ pool, after_n, before_n, drawn }, result->t);

	random_seed(&r, b->seed);
	for (size_t i = 0; i < m; i++) {
		draw(&r, after, after_n, drawn);
		draw(&r, before, before_n, drawn + after_n);
		values[i] = statistics_mean(drawn, after_n) /
				    statistics_mean(drawn + after_n, before_n) -
			    1;
		sort_small(drawn, after_n);
		sort_small(drawn + after_n, before_n);
		values[m + i] = statistics_quantile(drawn, after_n, 0.5) /
					statistics_quantile(drawn + after_n, before_n, 0.5) -
				1;
	}
	result->mean =
		interval(statistics_mean(after, after_n) / statistics_mean(before, before_n) - 1,
			 values, m, b->confidence);
	result->median = interval(
		statistics_median(after, after_n) / statistics_median(before, before_n) - 1,
		values + m, m, b->confidence);
	free(values);
	return 0;
}
