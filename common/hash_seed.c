/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/hash_seed.h"

#include <stdlib.h>
#include <sys/random.h>

#include "common/fuzzing.h"

#define SPREAD UINT64_C(0x9e3779b97f4a7c15)

static uint64_t fixed = FUZZING ? SPREAD : 0; /* 0: at random */

void hash_seed_fix(uint64_t number)
{
	fixed = (number + 1) * SPREAD | 1;
}

/* Once, as other threads of a program that uses the library may change the environment later. */
__attribute__((constructor)) static void read_wanted(void)
{
	const char *wanted = secure_getenv("PROF_HASH_SEED");
	char *end;
	uint64_t number = wanted ? strtoull(wanted, &end, 10) : 0;

	if (wanted && *wanted && !*end)
		hash_seed_fix(number);
}

uint64_t hash_seed(void)
{
	uint64_t seed;

	if (fixed)
		return fixed;
	/* Not worth waiting for early in the boot: an address serves then. */
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uintptr_t)&seed * SPREAD;
	return seed | 1;
}
