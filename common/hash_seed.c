/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/hash_seed.h"

#include <stdlib.h>
#include <sys/random.h>

#include "common/fuzzing.h"

#define SPREAD UINT64_C(0x9e3779b97f4a7c15)

uint64_t hash_seed(void)
{
	const char *wanted = secure_getenv("PROF_HASH_SEED");
	uint64_t seed;

	if (FUZZING)
		seed = SPREAD;
	else if (wanted)
		seed = (strtoull(wanted, NULL, 0) + 1) * SPREAD;
	else if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uintptr_t)&seed * SPREAD; /* not worth waiting for early in the boot */
	return seed | 1;
}
