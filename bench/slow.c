/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linked into build/prof-report-slow, which is prof-report and, at its end, as many rounds of
 * arithmetic as PROF_REPORT_SLOW says: a slowdown of known size for the gates to find. A round
 * has four instructions, which wait for each other, and so about the pace of real work.
 */
#include <stdint.h>
#include <stdlib.h>

__attribute__((destructor)) static void slow(void)
{
	const char *rounds = getenv("PROF_REPORT_SLOW");
	uint64_t x = 1, n = rounds ? strtoull(rounds, NULL, 10) : 0;

	while (n--) {
		x = x * 6364136223846793005 + 1442695040888963407;
		__asm__ volatile("" : "+r"(x));
	}
}
