/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_E2E_PROGRAMS_BURNING_H
#define TESTS_E2E_PROGRAMS_BURNING_H

/* Functions of known names that burn CPU time, by the clock and not by counting rounds. */

#include <stdint.h>
#include <time.h>

static inline __attribute__((always_inline)) uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns when this clock has come to `until` (ns). */
#define BURN(name, clock)                                                                          \
	__attribute__((noinline)) void name(uint64_t until)                                        \
	{                                                                                          \
		volatile uint64_t sum = 0;                                                         \
                                                                                                   \
		while (clock_ns(clock) < until)                                                    \
			for (uint64_t i = 0; i < 20000; i++)                                       \
				sum += i * i;                                                      \
	}

#endif
