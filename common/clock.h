/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

/* Times of the kernel's clocks (clock_gettime(2)) in ns. */

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* CLOCK_MONOTONIC, on which samples have their times. */
static inline uint64_t clock_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif
