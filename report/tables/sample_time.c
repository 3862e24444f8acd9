/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/tables/sample_time.h"

#include <math.h>

static bool has_one_rate(const struct profile *p)
{
	for (size_t i = 0; i < p->group_count; i++) {
		const struct profile_group *g = &p->groups[i];

		if (!g->ns_per_sample ||
		    p->events[g->event].interval_ns != p->events[p->groups[0].event].interval_ns)
			return false;
	}
	return true;
}

uint64_t sample_time(const struct profile *p)
{
	double samples = 0, ns = 0;

	if (!has_one_rate(p))
		return 0;
	for (size_t i = 0; i < p->entry_count; i++) {
		double n = (double)p->entries[i].samples;

		samples += n;
		ns += n * (double)p->groups[p->entries[i].group].ns_per_sample;
	}
	return samples > 0 ? (uint64_t)llround(ns / samples) : 0;
}
