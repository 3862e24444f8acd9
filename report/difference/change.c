/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/difference/change.h"

#include "common/distribution.h"

#include <math.h>
#include <stdlib.h>

/* Rows with fewer counts in a run say little about how far counts vary. */
#define ENOUGH_COUNTS 5

/* Runs that agree better than this do so by chance, or because counts are whole numbers. */
#define LEAST_DISPERSION 0.01

struct row {
	double count[2];   /* sums over the runs of a side */
	double dispersion; /* variance of the counts, in multiples of a Poisson variance */
	double p, least_p; /* and the smallest that this many counts can have */
};

struct estimate {
	const struct change_runs *runs;
	double exposure[2]; /* sums */
	double freedom;	    /* of each row's own dispersion */
	double relative;    /* squared: how far runs vary, of each row's value, by all rows */
	double prior, prior_freedom;
	struct row *rows;
	size_t n;
};

/* -------- the noise -------- */

static double digamma(double x)
{
	double sum = 0;

	for (; x < 8; x++)
		sum -= 1 / x;
	return sum + log(x) - 1 / (2 * x) - 1 / (12 * x * x) + 1 / (120 * pow(x, 4)) -
	       1 / (252 * pow(x, 6));
}

static double trigamma(double x)
{
	double sum = 0;

	for (; x < 8; x++)
		sum += 1 / (x * x);
	return sum + 1 / x + 1 / (2 * x * x) + 1 / (6 * pow(x, 3)) - 1 / (30 * pow(x, 5)) +
	       1 / (42 * pow(x, 7));
}

/* The function falls everywhere, so that halving finds where it passes y. */
static double trigamma_inverse(double y)
{
	double low = 1e-6, high = 1e6;

	for (int i = 0; i < 100; i++) {
		double middle = sqrt(low * high);

		if (trigamma(middle) > y)
			low = middle;
		else
			high = middle;
	}
	return sqrt(low * high);
}

/* What counts vary by: pairs of runs, or runs. */
static size_t unit_count(const struct change_runs *runs)
{
	return runs->partner ? runs->runs[CHANGE_BEFORE] : runs->runs[0] + runs->runs[1];
}

/* How far a run's count is from what its side's value gives, and the variance by sampling. */
static double run_deviation(const struct estimate *e, const struct row *row, const uint64_t *counts,
			    size_t run, double *variance)
{
	int side = run >= e->runs->runs[CHANGE_BEFORE];
	double expected = row->count[side] * e->runs->exposure[run] / e->exposure[side];

	*variance = expected;
	return (double)counts[run] - expected;
}

/* How far a pair's change is from that of all, and the variance by sampling. */
static double pair_deviation(const struct estimate *e, const struct row *row,
			     const uint64_t *counts, size_t pair, double *variance)
{
	size_t partner = e->runs->partner[pair];
	double before = e->runs->exposure[pair], now = e->runs->exposure[partner];
	double both = (row->count[0] + row->count[1]) / (e->exposure[0] + e->exposure[1]);
	double change = row->count[1] / e->exposure[1] - row->count[0] / e->exposure[0];

	*variance = both * (1 / before + 1 / now);
	return (double)counts[partner] / now - (double)counts[pair] / before - change;
}

/* In standard deviations of sampling. */
static double residual(const struct estimate *e, const struct row *row, const uint64_t *counts,
		       size_t unit)
{
	double variance, deviation = e->runs->partner
					     ? pair_deviation(e, row, counts, unit, &variance)
					     : run_deviation(e, row, counts, unit, &variance);

	return variance > 0 ? deviation / sqrt(variance) : 0;
}

static double dispersion(const struct estimate *e, const struct row *row, const uint64_t *counts)
{
	double sum = 0;

	for (size_t unit = 0; unit < unit_count(e->runs); unit++)
		sum += pow(residual(e, row, counts, unit), 2);
	return fmax(sum / e->freedom, LEAST_DISPERSION);
}

/*
 * What is to be expected of a row's dispersion: sampling gives 1; runs that differ by a part of
 * the value (a faster clock, a warmer cache) give more to rows with many counts.
 */
static double expected_dispersion(const struct estimate *e, const struct row *row, double relative)
{
	double runs = (double)(e->runs->runs[0] + e->runs->runs[1]);

	return 1 + relative * (row->count[0] + row->count[1]) / runs;
}

static bool shows_noise(const struct estimate *e, const struct row *row)
{
	double runs = (double)(e->runs->runs[0] + e->runs->runs[1]);

	return row->count[0] + row->count[1] >= ENOUGH_COUNTS * runs;
}

/* Whether the rows vary more than that, on average. */
static bool varies_more(const struct estimate *e, double relative)
{
	double sum = 0;

	for (size_t i = 0; i < e->n; i++) {
		const struct row *row = &e->rows[i];

		if (shows_noise(e, row))
			sum += row->dispersion / expected_dispersion(e, row, relative) - 1;
	}
	return sum > 0;
}

/* The part of their values by which rows vary from run to run, such that it explains them all. */
static void find_relative(struct estimate *e)
{
	double low = 1e-8, high = 1;

	e->relative = 0;
	if (!varies_more(e, low))
		return;
	for (int i = 0; i < 60; i++) {
		double middle = sqrt(low * high);

		if (varies_more(e, middle))
			low = middle;
		else
			high = middle;
	}
	e->relative = low;
	for (size_t i = 0; i < e->n; i++)
		e->rows[i].dispersion /= expected_dispersion(e, &e->rows[i], low);
}

/*
 * How many rows' noise is independent, as far as it shows: 1 where all rows of a run are higher or
 * lower together, as on a machine that is slower for a while.
 */
static double independent_rows(const struct estimate *e, const uint64_t *counts)
{
	size_t all = e->runs->runs[0] + e->runs->runs[1];
	double squares = 0, common = 0, n = 0;

	for (size_t i = 0; i < e->n; i++)
		n += shows_noise(e, &e->rows[i]);
	for (size_t unit = 0; unit < unit_count(e->runs); unit++) {
		double sum = 0;

		for (size_t i = 0; i < e->n; i++) {
			const struct row *row = &e->rows[i];
			double z = residual(e, row, counts + i * all, unit) /
				   sqrt(expected_dispersion(e, row, e->relative));

			if (!shows_noise(e, row))
				continue;
			squares += z * z;
			sum += z;
		}
		common += sum * sum;
	}
	return common > squares ? n * squares / common : n;
}

/*
 * What the rows' dispersions have in common: they are taken as drawn around `prior`, as a mean
 * square with prior_freedom degrees of freedom would be. The moments of their logarithms give
 * both.
 */
static void find_prior(struct estimate *e, const uint64_t *counts)
{
	double half = e->freedom / 2, sum = 0, squares = 0, mean, excess;
	size_t n = 0;

	for (size_t i = 0; i < e->n; i++) {
		double z;

		if (!shows_noise(e, &e->rows[i]))
			continue;
		z = log(e->rows[i].dispersion) - digamma(half) + log(half);
		sum += z;
		squares += z * z;
		n++;
	}
	e->prior = 1;
	e->prior_freedom = 0;
	if (n < 3)
		return;
	mean = sum / (double)n;
	excess = (squares - (double)n * mean * mean) / (double)(n - 1) - trigamma(half);
	if (excess > 1e-6) {
		double half_prior = trigamma_inverse(excess);

		e->prior_freedom = 2 * half_prior;
		e->prior = exp(mean + digamma(half_prior) - log(half_prior));
	} else {
		/* The rows differ by chance alone. */
		e->prior_freedom = e->freedom * (double)n;
		e->prior = exp(mean);
	}
	e->prior_freedom = fmin(e->prior_freedom, e->freedom * independent_rows(e, counts));
}

static void find_noise(struct estimate *e, const uint64_t *counts)
{
	size_t all = e->runs->runs[0] + e->runs->runs[1];

	for (size_t i = 0; i < e->n; i++)
		e->rows[i].dispersion = dispersion(e, &e->rows[i], counts + i * all);
	find_relative(e);
	find_prior(e, counts);
	for (size_t i = 0; i < e->n; i++) {
		struct row *row = &e->rows[i];

		row->dispersion = (e->prior_freedom * e->prior + e->freedom * row->dispersion) /
				  (e->prior_freedom + e->freedom) *
				  expected_dispersion(e, row, e->relative);
		if (e->runs->poisson && row->dispersion < 1)
			row->dispersion = 1;
	}
}

/* -------- one row -------- */

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

/*
 * Given the sum of both counts, those of now are binomially distributed if nothing changed:
 * each falls there in proportion to the exposure. Two-sided by doubling.
 */
static double exact_p(const struct estimate *e, const struct row *row)
{
	double n = row->count[0] + row->count[1], now = row->count[CHANGE_NOW];
	double share = e->exposure[CHANGE_NOW] / (e->exposure[0] + e->exposure[1]);
	double more = distribution_binomial_tail(now, n, share);
	double less = distribution_binomial_tail(n - now, n, 1 - share);

	return smaller(1, 2 * smaller(more, less));
}

static double least_p(const struct estimate *e, const struct row *row)
{
	double n = row->count[0] + row->count[1];
	double share = e->exposure[CHANGE_NOW] / (e->exposure[0] + e->exposure[1]);

	return smaller(1, 2 * pow(smaller(share, 1 - share), n));
}

static double t_p(const struct estimate *e, const struct row *row)
{
	double both = (row->count[0] + row->count[1]) / (e->exposure[0] + e->exposure[1]);
	double variance = row->dispersion * both * (1 / e->exposure[0] + 1 / e->exposure[1]);
	double change = row->count[1] / e->exposure[1] - row->count[0] / e->exposure[0];

	if (!(variance > 0))
		return 1;
	return 2 *
	       distribution_student(-fabs(change) / sqrt(variance), e->freedom + e->prior_freedom);
}

static void find_p(const struct estimate *e, struct row *row)
{
	row->least_p = e->runs->poisson ? least_p(e, row) : 0;
	row->p = e->runs->poisson ? exact_p(e, row) : e->freedom > 0 ? 0 : NAN;
	if (e->freedom > 0)
		row->p = fmax(row->p, t_p(e, row));
}

struct interval {
	double low, high;
};

/* The score interval of a side's value, whose variance grows with the value. */
static struct interval side_interval(const struct estimate *e, const struct row *row, int side,
				     double z)
{
	double k = row->count[side], wide = z * z * row->dispersion;
	double reach = sqrt(wide * k + wide * wide / 4);

	return (struct interval){ (k + wide / 2 - reach) / e->exposure[side],
				  (k + wide / 2 + reach) / e->exposure[side] };
}

/* Both sides' intervals joined, as the variances of independent values add up. */
static void find_interval(const struct estimate *e, const struct row *row, double z,
			  struct change *c)
{
	const struct interval before = side_interval(e, row, CHANGE_BEFORE, z);
	const struct interval now = side_interval(e, row, CHANGE_NOW, z);
	double change = c->now - c->before;

	c->low = c->high = NAN;
	if (!e->runs->poisson && !(e->freedom > 0))
		return;
	c->low = change - hypot(c->now - now.low, before.high - c->before);
	c->high = change + hypot(now.high - c->now, c->before - before.low);
}

/* -------- all rows together -------- */

static int compare_p(const void *left, const void *right)
{
	const struct row *const *a = left, *const *b = right;

	return ((*a)->p > (*b)->p) - ((*a)->p < (*b)->p);
}

static int compare_least_p(const void *left, const void *right)
{
	const struct row *const *a = left, *const *b = right;

	return ((*a)->least_p > (*b)->least_p) - ((*a)->least_p < (*b)->least_p);
}

/*
 * How many rows are tested: with K rows tested at alpha / K each, the others must have too few
 * counts to get there at all. They are the first ones of `rows`, which are in the order of least_p.
 */
static size_t testable(const struct row *const *rows, size_t n)
{
	size_t able = n;

	for (size_t k = 1;; k++) {
		while (able && rows[able - 1]->least_p > CHANGE_ALPHA / (double)k)
			able--;
		if (able <= k)
			return able;
	}
}

static struct error *adjust(const struct estimate *e, struct change *changes)
{
	const struct row **order = calloc(e->n + 1, sizeof(*order));
	double before = 0;
	size_t able;

	if (!order)
		return error_memory();
	for (size_t i = 0; i < e->n; i++) {
		changes[i].p = isnan(e->rows[i].p) ? NAN : 1;
		changes[i].sure = false;
		order[i] = &e->rows[i];
	}
	qsort(order, e->n, sizeof(*order), compare_least_p);
	able = testable(order, e->n);
	qsort(order, able, sizeof(*order), compare_p);
	for (size_t i = 0; i < able && !isnan(order[i]->p); i++) {
		struct change *c = &changes[order[i] - e->rows];

		before = fmax(before, smaller(1, order[i]->p * (double)(able - i)));
		c->p = before;
		c->sure = c->p < CHANGE_ALPHA;
	}
	free(order);
	return NULL;
}

static void add_runs(struct estimate *e, const uint64_t *counts)
{
	size_t all = e->runs->runs[0] + e->runs->runs[1];

	for (size_t r = 0; r < all; r++) {
		int side = r >= e->runs->runs[0];

		e->exposure[side] += e->runs->exposure[r];
		for (size_t i = 0; i < e->n; i++)
			e->rows[i].count[side] += (double)counts[i * all + r];
	}
}

struct error *changes_estimate(struct change *changes, size_t n, const uint64_t *counts,
			       const struct change_runs *runs)
{
	struct estimate e = { .runs = runs, .n = n, .rows = calloc(n + 1, sizeof(*e.rows)) };
	double z = 1.959964;
	struct error *error;

	if (!e.rows)
		return error_memory();
	add_runs(&e, counts);
	e.freedom = (double)(runs->partner ? runs->runs[0] - 1 : runs->runs[0] + runs->runs[1] - 2);
	for (size_t i = 0; i < n; i++)
		e.rows[i].dispersion = 1;
	if (e.freedom > 0) {
		find_noise(&e, counts);
		z = -distribution_student_inverse(0.025, e.freedom + e.prior_freedom);
	}
	for (size_t i = 0; i < n; i++) {
		struct change *c = &changes[i];

		c->before = e.rows[i].count[0] / e.exposure[0];
		c->now = e.rows[i].count[1] / e.exposure[1];
		find_p(&e, &e.rows[i]);
		find_interval(&e, &e.rows[i], z, c);
	}
	error = adjust(&e, changes);
	free(e.rows);
	return error;
}

double change_at_least(const struct change *c)
{
	if (isnan(c->low) || (c->low <= 0 && c->high >= 0))
		return 0;
	return c->low > 0 ? c->low : -c->high;
}
