/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/capture/timeline.h"

#include "common/array.h"
#include "common/clock.h"

#include <stdlib.h>

void timeline_release(struct timeline *t)
{
	free(t->sources);
	*t = (struct timeline){ 0 };
}

struct error *timeline_add(struct timeline *t, const struct timeline_source *source)
{
	if (!array_reserve(&t->sources, &t->capacity, t->n + 1))
		return error_memory();
	t->sources[t->n++] = *source;
	return NULL;
}

/* The source whose record is next, and the time up to which it stays the next one. */
static struct timeline_source *first(const struct timeline *t, uint64_t *time, uint64_t *until)
{
	struct timeline_source *best = NULL;

	*time = *until = UINT64_MAX;
	for (size_t i = 0; i < t->n; i++) {
		struct timeline_source *source = &t->sources[i];
		uint64_t its = source->peek(source->context, source->number);

		if (its == UINT64_MAX)
			continue;
		if (!best || its < *time) {
			*until = *time;
			*time = its;
			best = source;
		} else if (its < *until) {
			*until = its;
		}
	}
	return best;
}

struct error *timeline_run(struct timeline *t, uint64_t horizon_ns)
{
	for (;;) {
		uint64_t time, until;
		struct timeline_source *source = first(t, &time, &until);

		if (!source || time > horizon_ns)
			return NULL;
		if (until > horizon_ns)
			until = horizon_ns;
		/*
		 * While this source has the oldest record, the others need not be asked: a source
		 * only gets records later than those that it has. For equal times the search is
		 * repeated, since the order of the sources counts then.
		 */
		do {
			struct error *error = source->take(source->context, source->number);

			if (error)
				return error;
			time = source->peek(source->context, source->number);
		} while (time < until);
	}
}

/*
 * A thread that has moved to another CPU writes to that one's ring, which may have been empty when
 * it was looked at. So nothing is taken that is newer than the look.
 */
struct error *timeline_run_all(struct timeline *t)
{
	return timeline_run(t, clock_now());
}
