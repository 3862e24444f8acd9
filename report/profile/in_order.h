/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_IN_ORDER_H
#define REPORT_PROFILE_IN_ORDER_H

/*
 * Samples put in order of time. A recorder writes them as their stacks are complete, which on
 * several CPUs is not quite the order of their times. What is held back is bounded: a sample that
 * is IN_ORDER_MAX samples or more too late comes too late.
 */

#include "common/fuzzing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A fuzzer's traces have few samples: it would never see more of them than are held back. */
#define IN_ORDER_MAX (FUZZING ? 64 : 16384)

struct in_order {
	/*
	 * The earliest one first; of samples of equal times, the one that came first. The slots
	 * that are free are those after the first n.
	 */
	struct in_order_key {
		uint64_t time_ns, arrival;
		uint32_t slot; /* of the sample */
	} * heap;
	uint8_t *samples; /* by slot */
	size_t size;	  /* of a sample */
	size_t n;
	uint64_t arrived;
};

/* For samples of this size, whatever they are. False without memory. */
bool in_order_init(struct in_order *o, size_t size);
void in_order_release(struct in_order *o);

/* When it is full, the earliest sample must be taken before one is put. */
static inline bool in_order_full(const struct in_order *o)
{
	return o->n == IN_ORDER_MAX;
}

/* Keeps a copy. */
void in_order_put(struct in_order *o, uint64_t time_ns, const void *sample);

/* Takes the earliest sample out; false: there is none. */
bool in_order_take(struct in_order *o, void *sample);

#endif
