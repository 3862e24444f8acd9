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

/* How long to wait at `now_ns` for what is due then, at most `most`; 0 when it is due by now. */
static inline int clock_wait_ms(uint64_t now_ns, uint64_t due_ns, int most)
{
	if (due_ns <= now_ns)
		return 0;
	/* Rounded up: it shall be due after the wait. */
	if (due_ns - now_ns >= (uint64_t)most * 1000000)
		return most;
	return (int)((due_ns - now_ns) / 1000000) + 1;
}

#endif
