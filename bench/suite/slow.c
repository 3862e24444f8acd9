/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Linked into build/prof-report-slow, which is prof-report plus rounds of arithmetic at its end.
 * Their number is in the name that it is called by, after a "+": "new+250000". This gives the gates
 * a slowdown of known size to find, without a wrapper script. In a prof-report that is built with
 * INJECT=rounds it is ROUNDS, as in CPPFLAGS=-DROUNDS=250000.
 *
 * A round has seven instructions: a multiplication and an addition that wait for each other, and
 * five that wait for neither, so that they pass at about the pace of the report's own.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifndef ROUNDS
#define ROUNDS 0
#endif

__attribute__((destructor)) static void slow(void)
{
	const char *rounds = strrchr(program_invocation_short_name, '+');
	uint64_t n = rounds ? strtoull(rounds + 1, NULL, 10) : ROUNDS;
	uint64_t x = 1, a = 0, b = 0, c = 0;

	while (n--) {
		x = x * 6364136223846793005 + 1442695040888963407;
		a += 3;
		b ^= n;
		c -= 5;
		__asm__ volatile("" : "+r"(x), "+r"(a), "+r"(b), "+r"(c));
	}
}
