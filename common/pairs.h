/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_PAIRS_H
#define COMMON_PAIRS_H

/*
 * Numbers pairs of integers from 0, in the order in which they are first seen. Seeded, for the
 * integers may come from elsewhere. Starts as { 0 }.
 */

#include <stddef.h>
#include <stdint.h>

struct pair {
	uint64_t a, b;
};

struct pairs {
	struct pair *pairs; /* by number */
	uint32_t *slots;    /* number + 1, 0: empty */
	size_t count, room;
	size_t capacity; /* of slots: a power of two, or 0 */
	uint64_t seed;
};

void pairs_release(struct pairs *p);

/* Forgets all, keeps the memory. */
void pairs_clear(struct pairs *p);

/* The number of (a, b), or UINT32_MAX without memory. */
uint32_t pairs_put(struct pairs *p, uint64_t a, uint64_t b);

/* The same where it has a number already; UINT32_MAX: it has none. */
uint32_t pairs_find(const struct pairs *p, uint64_t a, uint64_t b);

#endif
