/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/distribution.h"

#define EXACT_LIMIT 50

struct ranked {
	double value;
	double rank;
	bool first; /* of the first group, or positive */
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Gives ranks from 1, equal values their mean rank; returns the sum of t^3 - t over ties. */
static double assign_ranks(struct ranked *all, size_t n)
{
	double ties = 0;

	qsort(all, n, sizeof(*all), compare_ranked);
	for (size_t i = 0, j; i < n; i = j) {
		double count;

		for (j = i + 1; j < n && all[j].value == all[i].value;)
			j++;
		count = (double)(j - i);
		ties += count * count * count - count;
		for (size_t k = i; k < j; k++)
			all[k].rank = (double)(i + 1 + j) / 2;
	}
	return ties;
}

/*
 * The chance that U is at most `u`. Counting: of the arrangements of i and j numbers, those
 * in which the largest is of the first group add j to U, the others leave it.
 * chance[i][k]: of arrangements of i and (current) j numbers, the share with U == k.
 */
static double exact_u_at_most(size_t n, size_t m, size_t u)
{
	size_t size = n * m + 1;
	double *chance = calloc((n + 1) * size, sizeof(*chance));
	double sum = 0;

	if (!chance)
		return NAN;
	for (size_t i = 0; i <= n; i++)
		chance[i * size] = 1;
	for (size_t j = 1; j <= m; j++) {
		for (size_t i = 1; i <= n; i++) {
			double *row = chance + i * size, *smaller = row - size;
			double first = (double)i / (double)(i + j);

			/* From the top, as row[k] is still that of j - 1 and smaller[] of j. */
			for (size_t k = i * j + 1; k-- > 0;)
				row[k] = (1 - first) * row[k] + (k >= j ? first * smaller[k - j] : 0);
		}
	}
	for (size_t k = 0; k <= u && k < size; k++)
		sum += chance[n * size + k];
	free(chance);
	return sum;
}

static double normal_u_p(double u, double n, double m, double ties)
{
	double total = n + m;
	double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
	double distance = fabs(u - n * m / 2) - 0.5;

	if (!(variance > 0))
		return 1;
	if (distance < 0)
		distance = 0;
	return 2 * distribution_normal(-distance / sqrt(variance));
}

int mann_whitney(const double *x, size_t n, const double *y, size_t m, struct mann_whitney *result)
{
	struct ranked *all = n && m ? malloc((n + m) * sizeof(*all)) : NULL;
	double ranks = 0, ties;

	if (!all)
		return -1;
	for (size_t i = 0; i < n + m; i++)
		all[i] = (struct ranked){ .value = i < n ? x[i] : y[i - n], .first = i < n };
	ties = assign_ranks(all, n + m);
	for (size_t i = 0; i < n + m; i++)
		ranks += all[i].first ? all[i].rank : 0;
	free(all);

	result->u = ranks - (double)n * (double)(n + 1) / 2;
	result->exact = ties == 0 && n <= EXACT_LIMIT && m <= EXACT_LIMIT;
	if (result->exact) {
		double lesser = fmin(result->u, (double)(n * m) - result->u);

		result->p = 2 * exact_u_at_most(n, m, (size_t)lesser);
	} else {
		result->p = normal_u_p(result->u, (double)n, (double)m, ties);
	}
	if (isnan(result->p))
		return -1;
	result->p = fmin(result->p, 1);
	return 0;
}

int rank_median(const double *x, size_t n, double confidence, struct estimate *median,
		double *coverage)
{
	double tail = pow(0.5, (double)n), term = tail, below = 0;
	double *sorted;
	size_t k = 0;

	/* The largest k for which P(Binomial(n, 1/2) <= k) still fits into half of the rest. */
	if (!n || tail > (1 - confidence) / 2 || tail == 0)
		return -1;
	while (k < n / 2 && tail <= (1 - confidence) / 2) {
		below = tail;
		k++;
		term *= (double)(n - k + 1) / (double)k;
		tail += term;
	}
	sorted = malloc(n * sizeof(*sorted));
	if (!sorted)
		return -1;
	memcpy(sorted, x, n * sizeof(*sorted));
	statistics_sort(sorted, n);
	median->value = statistics_quantile(sorted, n, 0.5);
	median->low = sorted[k - 1];
	median->high = sorted[n - k];
	if (coverage)
		*coverage = 1 - 2 * below;
	free(sorted);
	return 0;
}

/* The chance that the sum of the positive ranks 1..n is at most `w`: count subsets by sum. */
static double exact_w_at_most(size_t n, size_t w)
{
	size_t size = n * (n + 1) / 2 + 1;
	double *chance = calloc(size, sizeof(*chance));
	double sum = 0;

	if (!chance)
		return NAN;
	chance[0] = 1;
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t k = size; k-- > 0;)
			chance[k] = 0.5 * chance[k] + (k >= rank ? 0.5 * chance[k - rank] : 0);
	for (size_t k = 0; k <= w && k < size; k++)
		sum += chance[k];
	free(chance);
	return sum;
}

double signed_rank_p(const double *x, size_t n)
{
	struct ranked *all = n ? malloc(n * sizeof(*all)) : NULL;
	double positive = 0, ties, total, distance, p;
	size_t left = 0;

	if (!all)
		return NAN;
	for (size_t i = 0; i < n; i++)
		if (x[i] != 0)
			all[left++] = (struct ranked){ .value = fabs(x[i]), .first = x[i] > 0 };
	ties = assign_ranks(all, left);
	for (size_t i = 0; i < left; i++)
		positive += all[i].first ? all[i].rank : 0;
	free(all);
	if (!left)
		return NAN;

	total = (double)left * (double)(left + 1) / 2;
	if (ties == 0 && left <= EXACT_LIMIT)
		return fmin(1, 2 * exact_w_at_most(left, (size_t)fmin(positive, total - positive)));
	distance = fmax(0, fabs(positive - total / 2) - 0.5);
	p = 2 * distribution_normal(-distance / sqrt(total * (double)(2 * left + 1) / 12 -
						     ties / 48));
	return fmin(1, p);
}
