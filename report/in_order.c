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

static bool precedes(const struct in_order *o, size_t a, size_t b)
{
	if (o->heap[a].time_ns != o->heap[b].time_ns)
		return o->heap[a].time_ns < o->heap[b].time_ns;
	return o->arrivals[a] < o->arrivals[b];
}

static void swap(struct in_order *o, size_t a, size_t b)
{
	struct view_sample sample = o->heap[a];
	uint64_t arrival = o->arrivals[a];

	o->heap[a] = o->heap[b];
	o->arrivals[a] = o->arrivals[b];
	o->heap[b] = sample;
	o->arrivals[b] = arrival;
}

void in_order_put(struct in_order *o, const struct view_sample *sample)
{
	size_t at = o->n++;

	o->heap[at] = *sample;
	o->arrivals[at] = o->arrived++;
	for (; at && precedes(o, at, (at - 1) / 2); at = (at - 1) / 2)
		swap(o, at, (at - 1) / 2);
}

bool in_order_take(struct in_order *o, struct view_sample *sample)
{
	size_t at = 0, child;

	if (!o->n)
		return false;
	*sample = o->heap[0];
	swap(o, 0, --o->n);
	while ((child = 2 * at + 1) < o->n) {
		if (child + 1 < o->n && precedes(o, child + 1, child))
			child++;
		if (precedes(o, at, child))
			break;
		swap(o, at, child);
		at = child;
	}
	return true;
}
