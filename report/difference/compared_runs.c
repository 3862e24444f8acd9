/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/difference/compared_runs.h"

#include <stdlib.h>

void compared_runs_release(struct compared_runs *r)
{
	free(r->exposure);
	free(r->partner);
	*r = (struct compared_runs){ 0 };
}

static size_t trace_of(const struct profile *p, size_t group)
{
	return p->groups[group].trace;
}

/* What a sample of a run stands for, in ns; 0: not known, or not the same for all. */
static uint64_t sample_ns(const struct profile *p, size_t trace)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < p->group_count; i++) {
		uint64_t one = p->groups[i].ns_per_sample;

		if (trace_of(p, i) != trace)
			continue;
		if (!one || (ns && one != ns))
			return 0;
		ns = one;
	}
	return ns;
}

static bool has_waits(const struct profile *p)
{
	for (size_t i = 0; i < p->group_count; i++) {
		enum prf_event_kind kind = p->events[p->groups[i].event].kind;

		if (kind == PRF_EVENT_OFF_CPU || kind == PRF_EVENT_PREEMPTED)
			return true;
	}
	return false;
}

static bool has_samples(const struct profile *p, size_t trace)
{
	for (size_t i = 0; i < p->entry_count; i++)
		if (trace_of(p, p->entries[i].group) == trace)
			return true;
	return false;
}

/* Samples fall independently, and each is worth the same within its run. */
static bool counts_samples(const struct compared_runs *r)
{
	for (int i = 0; i < 2; i++) {
		const struct compared_side *side = &r->sides[i];
		const struct profile *p = side->profile;

		if (p->value == PROFILE_WEIGHT || p->latency || has_waits(p))
			return false;
		for (size_t k = 0; p->value == PROFILE_TIME && k < side->count; k++)
			if (has_samples(p, side->first + k) && !sample_ns(p, side->first + k))
				return false;
	}
	return true;
}

/*
 * The count of a run that a value of 1 gives. An empty run has no rate of its own and is taken as
 * one of 1000 Hz.
 */
static double exposure_of(const struct compared_runs *r, const struct profile *p, size_t trace)
{
	uint64_t ns = sample_ns(p, trace);

	if (p->value != PROFILE_TIME)
		return 1;
	return r->by_samples ? 1e9 / (double)(ns ? ns : 1000000) : 1e6;
}

/* What was counted in each run of a side. */
static void count_side(const struct compared_runs *r, const struct compared_side *side,
		       uint64_t *counts)
{
	const struct profile *p = side->profile;

	for (size_t i = 0; i < p->entry_count; i++) {
		const struct profile_entry *e = &p->entries[i];
		size_t trace = trace_of(p, e->group);

		if (trace >= side->first && trace < side->first + side->count)
			counts[trace - side->first] += r->by_samples ? e->samples : e->value;
	}
}

/* Shares are values whose exposure is the run's own total. */
static void scale_exposures(struct compared_runs *r, const uint64_t *counts)
{
	double total = r->totals[CHANGE_NOW];

	for (size_t i = 0; total > 0 && i < r->all; i++)
		r->exposure[i] = (double)(counts[i] ? counts[i] : 1) / total;
	r->totals[CHANGE_BEFORE] = total;
	r->scaled = true;
}

static void describe_runs(struct compared_runs *r, uint64_t *counts, bool scale)
{
	const struct profile *now = r->sides[CHANGE_NOW].profile;
	size_t run = 0;

	r->by_samples = counts_samples(r);
	r->noise_known = r->by_samples || r->all > 2;
	r->unit = now->value == PROFILE_TIME ? "s" : now->unit;
	for (int i = 0; i < 2; i++) {
		const struct compared_side *side = &r->sides[i];
		double sum = 0, exposure = 0;

		count_side(r, side, counts + run);
		for (size_t k = 0; k < side->count; k++, run++) {
			r->exposure[run] = exposure_of(r, side->profile, side->first + k);
			sum += (double)counts[run];
			exposure += r->exposure[run];
		}
		r->totals[i] = sum / exposure;
	}
	if (scale)
		scale_exposures(r, counts);
}

#define PAIRS_MIN 3 /* fewer say too little of how far pairs vary */

struct timed_run {
	uint64_t realtime_ns;
	size_t run;
};

static int compare_times(const void *left, const void *right)
{
	const struct timed_run *a = left, *b = right;

	return (a->realtime_ns > b->realtime_ns) - (a->realtime_ns < b->realtime_ns);
}

/* Fills `order` with all runs in the order in which they began; false: not known of all. */
static bool order_by_time(const struct compared_runs *r, struct timed_run *order)
{
	size_t run = 0;

	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < r->sides[i].count; k++, run++) {
			const struct compared_side *side = &r->sides[i];
			uint64_t ns = side->profile->traces[side->first + k].realtime_ns;

			if (!ns)
				return false;
			order[run] = (struct timed_run){ ns, run };
		}
	qsort(order, r->all, sizeof(*order), compare_times);
	return true;
}

/*
 * In the order of time each pair has one of each side, which is first as often as second: a machine
 * that gets slower and slower would otherwise always be slower now.
 */
static bool pair_by_time(const struct compared_runs *r, const struct timed_run *order,
			 size_t *partner)
{
	size_t before = r->sides[CHANGE_BEFORE].count, first = 0;

	for (size_t i = 0; i < r->all; i += 2) {
		size_t a = order[i].run, b = order[i + 1].run;

		if ((a < before) == (b < before))
			return false;
		partner[a < before ? a : b] = a < before ? b : a;
		first += a < before;
	}
	return 2 * first + 1 >= before && 2 * first <= before + 1;
}

static struct error *find_partners(struct compared_runs *r)
{
	size_t before = r->sides[CHANGE_BEFORE].count;
	struct timed_run *order;

	if (before < PAIRS_MIN || before != r->sides[CHANGE_NOW].count)
		return NULL;
	order = calloc(r->all, sizeof(*order));
	r->partner = calloc(before, sizeof(*r->partner));
	if (!order || !r->partner) {
		free(order);
		return error_memory();
	}
	if (!order_by_time(r, order) || !pair_by_time(r, order, r->partner)) {
		free(r->partner);
		r->partner = NULL;
	}
	free(order);
	return NULL;
}

struct error *compared_runs_init(struct compared_runs *r, const struct compared_side sides[2],
				 bool scale)
{
	uint64_t *counts;

	*r = (struct compared_runs){ .sides = { sides[0], sides[1] },
				     .all = sides[0].count + sides[1].count };
	r->exposure = calloc(r->all, sizeof(*r->exposure));
	counts = calloc(r->all, sizeof(*counts));
	if (!r->exposure || !counts) {
		free(counts);
		return error_memory();
	}
	describe_runs(r, counts, scale);
	free(counts);
	return find_partners(r);
}

void compared_runs_count(const struct compared_runs *r, const struct profile *p, size_t first,
			 const uint32_t *row_of, uint64_t *counts)
{
	for (size_t i = 0; i < p->entry_count; i++) {
		const struct profile_entry *e = &p->entries[i];

		if (row_of[i] != PRF_NONE)
			counts[row_of[i] * r->all + first + trace_of(p, e->group)] +=
				r->by_samples ? e->samples : e->value;
	}
}

struct error *compared_runs_estimate(const struct compared_runs *r, struct change *changes,
				     size_t n, const uint64_t *counts)
{
	const struct change_runs runs = {
		.runs = { r->sides[0].count, r->sides[1].count },
		.exposure = r->exposure,
		.partner = r->partner,
		.poisson = r->by_samples,
	};

	return n ? changes_estimate(changes, n, counts, &runs) : NULL;
}
