/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/statistics/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/distribution.h"

#define EXACT_LIMIT 50

struct ranked {
	double value;
	double rank;
	bool positive;
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

int rank_median(const double *x, size_t n, double confidence, struct rank_median *result)
{
	/* As a logarithm, because 2^-n is 0 from n = 1075 on. */
	double log_term = -(double)n * M_LN2, tail = exp(log_term), below = 0;
	double *sorted;
	size_t k = 0;

	/* The largest k for which P(Binomial(n, 1/2) <= k) still fits into half of the rest. */
	if (!n || tail > (1 - confidence) / 2)
		return -1;
	while (k < n / 2 && tail <= (1 - confidence) / 2) {
		below = tail;
		k++;
		log_term += log((double)(n - k + 1) / (double)k);
		tail += exp(log_term);
	}
	sorted = malloc(n * sizeof(*sorted));
	if (!sorted)
		return -1;
	memcpy(sorted, x, n * sizeof(*sorted));
	statistics_sort(sorted, n);
	result->median = (struct estimate){ statistics_quantile(sorted, n, 0.5), sorted[k - 1],
					    sorted[n - k] };
	result->coverage = 1 - 2 * below;
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
			all[left++] = (struct ranked){ .value = fabs(x[i]), .positive = x[i] > 0 };
	ties = assign_ranks(all, left);
	for (size_t i = 0; i < left; i++)
		positive += all[i].positive ? all[i].rank : 0;
	free(all);
	if (!left)
		return NAN;

	total = (double)left * (double)(left + 1) / 2;
	if (ties == 0 && left <= EXACT_LIMIT)
		return fmin(1, 2 * exact_w_at_most(left, (size_t)fmin(positive, total - positive)));
	distance = fmax(0, fabs(positive - total / 2) - 0.5);
	p = 2 *
	    distribution_normal(-distance / sqrt(total * (double)(2 * left + 1) / 12 - ties / 48));
	return fmin(1, p);
}
