/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/statistics/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/statistics/random.h"
#include "bench/statistics/statistics.h"

struct search {
	const struct change_options *options;
	const double *values;
	double *shuffled;
	struct random random;
	size_t *places;
	size_t count;
};

/* The sum of the distances of `x` from each of the values. */
static double distances(double x, const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += fabs(x - values[i]);
	return sum;
}

/*
 * The division into [0, k) and [k, n) with the largest energy distance, weighted by the sizes of
 * the parts. The sums within and between the parts follow from those of the division before.
 */
static double best_division(const double *values, size_t n, size_t least, size_t *place)
{
	double left = 0, right = 0, between = 0, best = -1;

	for (size_t i = 1; i < n; i++)
		right += distances(values[i], values, i);
	*place = 0;
	for (size_t k = 1; k < n; k++) {
		/* Value k - 1 goes from the right part to the left one. */
		double to_left = distances(values[k - 1], values, k - 1);
		double to_right = distances(values[k - 1], values + k, n - k);
		double a = (double)k, b = (double)(n - k), energy;

		left += to_left;
		right -= to_right;
		between += to_right - to_left;
		if (k < least || n - k < least)
			continue;
		energy = a * b / (a + b) *
			 (2 * between / (a * b) - 2 * left / (a * a) - 2 * right / (b * b));
		if (energy > best) {
			best = energy;
			*place = k;
		}
	}
	return best;
}

static void shuffle(struct random *r, double *values, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = random_below(r, i);
		double value = values[i - 1];

		values[i - 1] = values[j];
		values[j] = value;
	}
}

/* True when none of options->permutations random orders of the values has as large a distance. */
static bool is_rare(struct search *s, const double *values, size_t n, double energy)
{
	size_t unused;

	memcpy(s->shuffled, values, n * sizeof(*values));
	for (size_t i = 0; i < s->options->permutations; i++) {
		shuffle(&s->random, s->shuffled, n);
		if (best_division(s->shuffled, n, s->options->least, &unused) >= energy)
			return false;
	}
	return true;
}

static bool is_large(const struct search *s, size_t begin, size_t place, size_t end)
{
	double before = statistics_median(s->values + begin, place - begin);
	double after = statistics_median(s->values + place, end - place);

	return fabs(after - before) >= s->options->smallest * fabs(before) && after != before;
}

static void divide(struct search *s, size_t begin, size_t end)
{
	size_t n = end - begin, place;
	double energy;

	if (n < 2 * s->options->least)
		return;
	energy = best_division(s->values + begin, n, s->options->least, &place);
	place += begin;
	if (!is_large(s, begin, place, end) || !is_rare(s, s->values + begin, n, energy))
		return;
	divide(s, begin, place);
	s->places[s->count++] = place;
	divide(s, place, end);
}

int changes_find(const double *values, size_t n, const struct change_options *options,
		 size_t *places)
{
	struct search s = { .options = options, .values = values, .places = places };

	if (n > CHANGES_VALUES_MOST || options->least < 2)
		return -1;
	s.shuffled = malloc((n + 1) * sizeof(*s.shuffled));
	if (!s.shuffled)
		return -1;
	random_seed(&s.random, options->seed);
	divide(&s, 0, n);
	free(s.shuffled);
	return (int)s.count;
}
