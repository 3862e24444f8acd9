/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/in_order.h"

#include <stdlib.h>

bool in_order_init(struct in_order *o)
{
	*o = (struct in_order){ .heap = calloc(IN_ORDER_MAX, sizeof(*o->heap)),
				.arrivals = calloc(IN_ORDER_MAX, sizeof(*o->arrivals)) };
	return o->heap && o->arrivals;
}

void in_order_release(struct in_order *o)
{
	free(o->heap);
	free(o->arrivals);
	*o = (struct in_order){ 0 };
}

static bool precedes(const struct in_order *o, size_t a, uint64_t time_ns, uint64_t arrival)
{
	if (o->heap[a].time_ns != time_ns)
		return o->heap[a].time_ns < time_ns;
	return o->arrivals[a] < arrival;
}

static void move(struct in_order *o, size_t to, size_t from)
{
	o->heap[to] = o->heap[from];
	o->arrivals[to] = o->arrivals[from];
}

void in_order_put(struct in_order *o, const struct view_sample *sample)
{
	uint64_t arrival = o->arrived++;
	size_t at = o->n++;

	/* What comes later than the sample makes room for it. */
	for (; at && !precedes(o, (at - 1) / 2, sample->time_ns, arrival); at = (at - 1) / 2)
		move(o, at, (at - 1) / 2);
	o->heap[at] = *sample;
	o->arrivals[at] = arrival;
}

bool in_order_take(struct in_order *o, struct view_sample *sample)
{
	size_t at = 0, child, last;

	if (!o->n)
		return false;
	*sample = o->heap[0];
	last = --o->n;
	/* The last one goes where all below it come later. */
	while ((child = 2 * at + 1) < o->n) {
		if (child + 1 < o->n &&
		    precedes(o, child + 1, o->heap[child].time_ns, o->arrivals[child]))
			child++;
		if (!precedes(o, child, o->heap[last].time_ns, o->arrivals[last]))
			break;
		move(o, at, child);
		at = child;
	}
	move(o, at, last);
	return true;
}
