/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_IN_ORDER_H
#define REPORT_IN_ORDER_H

/*
 * Samples put in order of time. A recorder writes them as their stacks are complete, which on
 * several CPUs is not quite the order of their times. What is held back is bounded: a sample that
 * is IN_ORDER_MAX samples or more too late comes too late.
 */

#include "report/views/view.h"

#include <stdbool.h>
#include <stddef.h>

#define IN_ORDER_MAX 16384

struct in_order {
	struct view_sample *heap; /* the earliest one first */
	uint64_t *arrivals; /* of samples of equal times, the one that came first goes first */
	size_t n;
	uint64_t arrived;
};

/* False without memory. */
bool in_order_init(struct in_order *o);
void in_order_release(struct in_order *o);

/* When it is full, the earliest sample must be taken before one is put. */
static inline bool in_order_full(const struct in_order *o)
{
	return o->n == IN_ORDER_MAX;
}

void in_order_put(struct in_order *o, const struct view_sample *sample);

/* Takes the earliest sample out; false: there is none. */
bool in_order_take(struct in_order *o, struct view_sample *sample);

#endif
