/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/compare.h"

#include "common/message.h"
#include "report/profile/event_time.h"
#include "report/difference/comparison.h"

#include <math.h>
#include <string.h>

/* Recordings whose lengths differ by a smaller share than this count as equally long. */
#define SAME_LENGTH 0.1

/* -------- what is compared -------- */

/* The events of one side: whether all measure time, and what a sample stands for. */
struct rates {
	bool times, waits;
	uint64_t least_ns, most_ns;
};

static void add_rates(struct rates *rates, const struct loaded *l)
{
	size_t n, events;
	const struct tally_group *groups = tally_groups(l->tally, &n);
	const struct prf_event *const *event = tally_events(l->tally, &events);

	for (size_t i = 0; i < n; i++) {
		const struct prf_event *e = event[groups[i].event];
		uint64_t ns = event_ns_per_sample(e);

		rates->times &= event_has_time(e);
		rates->waits |= e->kind == PRF_EVENT_OFF_CPU || e->kind == PRF_EVENT_PREEMPTED;
		if (ns < rates->least_ns)
			rates->least_ns = ns;
		if (ns > rates->most_ns)
			rates->most_ns = ns;
	}
}

/* How long a run was recorded, on average. */
static double length(const struct loaded *l)
{
	double sum = 0;

	for (size_t i = 0; i < l->trace_count; i++)
		sum += (double)trace_duration(&l->traces[i]) / 1e9;
	return sum / (double)l->trace_count;
}

static void say_lengths(const struct loaded *base, const struct loaded *now)
{
	double before = length(base), after = length(now), longer = fmax(before, after);

	if (longer > 0 && fabs(after - before) > SAME_LENGTH * longer)
		message_info("recorded for %.1f s, before for %.1f s: --normalize compares shares "
			     "of the total",
			     after, before);
}

void compare_choose_value(struct report_options *o, const struct loaded *base,
			  const struct loaded *now)
{
	struct rates rates = { .times = true, .least_ns = UINT64_MAX };

	add_rates(&rates, base);
	add_rates(&rates, now);
	if (o->value == VALUE_DEFAULT && rates.times && !rates.waits) {
		bool differ = rates.least_ns < rates.most_ns;

		if (differ)
			message_info("the sampling rates differ: CPU time is compared; "
				     "--value=samples compares samples");
		/* Folded stacks stay what difffolded.pl makes of two outputs. */
		if (differ || strcmp(o->view->name, "folded"))
			o->value = VALUE_TIME;
	}
	if (!o->shown.normalize)
		say_lengths(base, now);
}

/* -------- --fail-on-regression -------- */

/*
 * True when it surely grew by at least `least` percent of the total before; `percent` gets the
 * growth.
 */
static bool grew(const struct change *c, double total, double least, double *percent)
{
	*percent = total > 0 ? 100 * (c->now - c->before) / total : INFINITY;
	return c->sure && c->now > c->before && *percent >= least;
}

static bool say_regression(const struct report_options *o, const struct comparison *c,
			   const struct compared *one)
{
	double total = c->runs.totals[CHANGE_BEFORE], percent;
	const struct change *change = &one->joint;
	const char *what = one->has_parts ? "in itself and what was or is inlined into it"
					  : "in itself";

	if (one->part)
		return false;
	if (!grew(change, total, o->fail_percent, &percent)) {
		change = &one->total;
		what = "with what it calls";
		if (!grew(change, total, o->fail_percent, &percent))
			return false;
	}
	message_error("%s takes %.3f %s more %s (%.3f to %.3f), %+.2f %% of the total before",
		      one->name, change->now - change->before, c->runs.unit, what, change->low,
		      change->high, percent);
	return true;
}

bool compare_finds_regression(const struct report_options *o, const struct profile *base,
			      const struct profile *now)
{
	struct comparison c;
	const struct comparison_sides sides = { base, now, rows_key_of(o->shown.by),
						o->shown.normalize };
	struct error *error = comparison_init(&c, &sides);
	size_t found = error ? 1 : 0;

	if (error) {
		message_error("%s", error->text);
		error_free(error);
	} else if (!c.runs.noise_known) {
		message_warning("--fail-on-regression: what these events vary by is known from "
				"several runs only");
	}
	for (size_t i = 0; i < c.count; i++)
		found += say_regression(o, &c, &c.list[i]);
	comparison_release(&c);
	return found;
}
