/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/profile/in_order.h"

#include <stdlib.h>
#include <string.h>

bool in_order_init(struct in_order *o, size_t size)
{
	*o = (struct in_order){ .heap = calloc(IN_ORDER_MAX, sizeof(*o->heap)),
				.samples = calloc(IN_ORDER_MAX, size),
				.size = size };
	for (uint32_t i = 0; o->heap && i < IN_ORDER_MAX; i++)
		o->heap[i].slot = i;
	return o->heap && o->samples;
}

void in_order_release(struct in_order *o)
{
	free(o->heap);
	free(o->samples);
	*o = (struct in_order){ 0 };
}

static bool precedes(const struct in_order_key *a, const struct in_order_key *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->arrival < b->arrival;
}

void in_order_put(struct in_order *o, uint64_t time_ns, const void *sample)
{
	size_t at = o->n++;
	const struct in_order_key key = { time_ns, o->arrived++, o->heap[at].slot };

	memcpy(o->samples + key.slot * o->size, sample, o->size);
	/* What comes later than the sample makes room for it. */
	for (; at && precedes(&key, &o->heap[(at - 1) / 2]); at = (at - 1) / 2)
		o->heap[at] = o->heap[(at - 1) / 2];
	o->heap[at] = key;
}

bool in_order_take(struct in_order *o, void *sample)
{
	size_t at = 0, child;
	struct in_order_key last;
	uint32_t slot;

	if (!o->n)
		return false;
	slot = o->heap[0].slot;
	memcpy(sample, o->samples + slot * o->size, o->size);
	last = o->heap[--o->n];
	/* The last one goes where all below it come later. */
	while ((child = 2 * at + 1) < o->n) {
		if (child + 1 < o->n && precedes(&o->heap[child + 1], &o->heap[child]))
			child++;
		if (!precedes(&o->heap[child], &last))
			break;
		o->heap[at] = o->heap[child];
		at = child;
	}
	o->heap[at] = last;
	o->heap[o->n].slot = slot;
	return true;
}
