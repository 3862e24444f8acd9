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

static int take_pair(struct paired_runs *p, bool new_first, bool same, paired_runs_measure *measure,
		     void *context)
{
	double ns[2];

	for (int i = 0; i < 2; i++) {
		int side = i ^ new_first;

		if (measure(context, same ? 0 : side, &ns[side]) || !(ns[side] > 0))
			return -1;
	}
	p->log_ratios[p->n++] = log(ns[1] / ns[0]);
	return 0;
}

int paired_runs_take(struct paired_runs *p, size_t n, bool same, struct random *r,
		     paired_runs_measure *measure, void *context)
{
	bool new_first = false;

	if (reserve(p, n))
		return -1;
	for (size_t i = 0; i < n; i++) {
		new_first = i % 2 ? !new_first : random_below(r, 2);
		if (take_pair(p, new_first, same, measure, context))
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
	struct estimate sign, bootstrap;

	if (rank_median(p->log_ratios, p->n, b->confidence, &sign, NULL) ||
	    bootstrap_median(b, p->log_ratios, p->n, &bootstrap))
		return -1;
	change->sign = to_change(sign);
	change->bootstrap = to_change(bootstrap);
	change->p = signed_rank_p(p->log_ratios, p->n);
	return 0;
}

double paired_runs_noise(const struct paired_runs_change *same, double least)
{
	return fmax(least, fmax(fabs(same->sign.low), fabs(same->sign.high)));
}

enum paired_runs_verdict paired_runs_judge(const struct paired_runs_change *change, double noise)
{
	if (change->sign.low > noise)
		return PAIRED_RUNS_SLOWER;
	if (change->sign.high < -noise)
		return PAIRED_RUNS_FASTER;
	if (change->sign.low >= -noise && change->sign.high <= noise)
		return PAIRED_RUNS_SAME;
	return PAIRED_RUNS_INCONCLUSIVE;
}
