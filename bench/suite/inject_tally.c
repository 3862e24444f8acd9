/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * INJECT=tally: some two hundred instructions more for each sample that the report counts. The
 * linker puts them in front of the tally (--wrap), as inject.c does with the recorder. Without
 * INJECT this file is empty.
 */
#ifdef INJECT_tally

#include "report/profile/tally.h"

struct error *__real_tally_add(struct tally *t, const struct prf_samples *samples);
struct error *__wrap_tally_add(struct tally *t, const struct prf_samples *samples);

struct error *__wrap_tally_add(struct tally *t, const struct prf_samples *samples)
{
	uint64_t x = 1;

	for (size_t i = 0; i < 50 * samples->n; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		__asm__ volatile("" : "+r"(x));
	}
	return __real_tally_add(t, samples);
}

#else

extern const char inject_nothing_here; /* ISO C wants a declaration */

#endif
