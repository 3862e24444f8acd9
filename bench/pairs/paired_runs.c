/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/pairs/paired_runs.h"

#include <math.h>
#include <stdlib.h>

#include "bench/statistics/rank.h"

void paired_runs_release(struct paired_runs *p)
{
	free(p->log_ratios);
	*p = (struct paired_runs){ 0 };
}

static int reserve(struct paired_runs *p, size_t more)
{
	double *ratios;

	if (p->n + more <= p->capacity)
		return 0;
	ratios = realloc(p->log_ratios, (p->n + more) * sizeof(*ratios));
	if (!ratios)
		return -1;
	p->log_ratios = ratios;
	p->capacity = p->n + more;
	return 0;
}

static int take_pair(struct paired_runs *p, bool new_first, bool same,
		     const struct paired_runs_way *way)
{
	double ns[2];

	for (int i = 0; i < 2; i++) {
		int side = i ^ new_first;

		if (way->measure(way->context, same ? 0 : side, &ns[side]) || !(ns[side] > 0))
			return -1;
	}
	p->log_ratios[p->n++] = log(ns[1] / ns[0]);
	return 0;
}

int paired_runs_take(struct paired_runs *p, size_t n, bool same, const struct paired_runs_way *way)
{
	bool new_first = false;

	if (reserve(p, n))
		return -1;
	for (size_t i = 0; i < n; i++) {
		new_first = i % 2 ? !new_first : random_below(way->order, 2);
		if (take_pair(p, new_first, same, way))
			return -1;
	}
	return 0;
}

static struct estimate to_change(struct estimate logs)
{
	return (struct estimate){ expm1(logs.value), expm1(logs.low), expm1(logs.high) };
}

int paired_runs_change(const struct paired_runs *p, const struct bootstrap *b,
		       struct paired_runs_change *change)
{
	struct rank_median sign;
	struct estimate bootstrap;

	if (rank_median(p->log_ratios, p->n, b->confidence, &sign) ||
	    bootstrap_median(b, p->log_ratios, p->n, &bootstrap))
		return -1;
	change->sign = to_change(sign.median);
	change->bootstrap = to_change(bootstrap);
	change->p = signed_rank_p(p->log_ratios, p->n);
	return 0;
}

double paired_runs_noise(const struct paired_runs_change *same, double least)
{
	return fmax(least, fmax(fabs(same->sign.low), fabs(same->sign.high)));
}

enum paired_runs_verdict paired_runs_judge(const struct paired_runs_change *different,
					   const struct paired_runs_change *same, double wanted)
{
	double noise = paired_runs_noise(same, wanted);

	if (different->sign.low > noise)
		return PAIRED_RUNS_SLOWER;
	if (different->sign.high < -noise)
		return PAIRED_RUNS_FASTER;
	if (different->sign.high <= wanted && noise <= wanted)
		return PAIRED_RUNS_FINE;
	return PAIRED_RUNS_INCONCLUSIVE;
}

/* How many times as many pairs make an interval half as wide as `margin`. */
static double times(const struct estimate *e, double margin)
{
	double half = fmax(e->high - e->value, e->value - e->low);

	return half / margin * (half / margin);
}

size_t paired_runs_needed(const struct paired_runs_change *different,
			  const struct paired_runs_change *same, size_t n, double wanted)
{
	double margin = fabs(different->sign.value - wanted), factor;

	if (margin < wanted / 10 || !(wanted > 0))
		return 0;
	factor = fmax(1, fmax(times(&same->sign, wanted), times(&different->sign, margin)));
	return (size_t)fmin(1e9, ceil(factor * (double)n));
}

static int look(struct paired_runs_comparison *c, const struct paired_runs_options *options)
{
	const struct bootstrap bootstrap = { options->seed, options->resamples,
					     PAIRED_RUNS_CONFIDENCE };

	if (paired_runs_change(&c->same, &bootstrap, &c->same_change) ||
	    paired_runs_change(&c->different, &bootstrap, &c->change))
		return -1;
	c->verdict = paired_runs_judge(&c->change, &c->same_change, options->wanted);
	return 0;
}

int paired_runs_compare(struct paired_runs_comparison *c, const struct paired_runs_options *options,
			paired_runs_measure *measure, void *context)
{
	size_t step = options->pairs, left;
	struct random order;
	const struct paired_runs_way way = { measure, context, &order };

	random_seed(&order, options->seed);
	do {
		if (paired_runs_take(&c->same, step, true, &way) ||
		    paired_runs_take(&c->different, step, false, &way) || look(c, options))
			return -1;
		left = options->max_pairs - c->different.n;
		step = c->different.n < left ? c->different.n : left;
	} while (c->verdict == PAIRED_RUNS_INCONCLUSIVE && step);
	return 0;
}

void paired_runs_comparison_release(struct paired_runs_comparison *c)
{
	paired_runs_release(&c->same);
	paired_runs_release(&c->different);
}
