/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/statistics/random.h"

#include <math.h>

static uint64_t rotate(uint64_t x, int bits)
{
	return (x << bits) | (x >> (64 - bits));
}

/* The state is filled by splitmix64, so that any seed, 0 too, gives a good one. */
void random_seed(struct random *r, uint64_t seed)
{
	for (size_t i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
		r->state[i] = z ^ (z >> 31);
	}
}

uint64_t random_next(struct random *r)
{
	uint64_t *s = r->state;
	uint64_t result = rotate(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

double random_normal(struct random *r)
{
	double u = 1 - random_unit(r); /* never 0 */
	double v = random_unit(r);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}
