/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The body of the XDP example, compiled for the host. */
#include <stdlib.h>

#include "bench/suite/suite.h"
#include "bench/statistics/random.h"
#include "bench/suite/xdp_example.h"

#define ADDRESSES 1000

struct addresses {
	uint32_t address[ADDRESSES];
	uint64_t counts[PACKET_CLASSES];
};

static struct error *addresses_setup(void **state, uint64_t seed)
{
	struct addresses *a = calloc(1, sizeof(*a));
	struct random r;

	if (!a)
		return error_memory();
	random_seed(&r, seed);
	for (size_t i = 0; i < ADDRESSES; i++)
		a->address[i] = (uint32_t)random_next(&r);
	*state = a;
	return NULL;
}

static void addresses_run(void *state, uint64_t iterations)
{
	struct addresses *a = state;

	while (iterations--) {
		for (size_t i = 0; i < PACKET_CLASSES; i++)
			a->counts[i] = 0;
		for (size_t i = 0; i < ADDRESSES; i++)
			a->counts[classify(a->address[i])]++;
		benchmark_keep(a);
	}
}

/* n is a Fibonacci number if 5 n^2 + 4 or 5 n^2 - 4 is a square: another way than both. */
static int fibonacci_by_squares(uint32_t n)
{
	for (uint32_t root = 0; root * root <= 5 * n * n + 4; root++)
		if (root * root == 5 * n * n + 4 || root * root + 4 == 5 * n * n)
			return 1;
	return 0;
}

static struct error *addresses_check(void *state)
{
	const struct addresses *a = state;
	uint64_t expected = 0;

	for (size_t i = 0; i < ADDRESSES; i++)
		expected += (uint64_t)fibonacci_by_squares(a->address[i] & 0xff);
#ifdef INJECT_fizzbuzz
	expected = 0;
#endif
	if (a->counts[PACKET_FIBONACCI] != expected)
		return error_new(ERROR_FAILED, "%llu Fibonacci numbers found, %llu are there",
				 (unsigned long long)a->counts[PACKET_FIBONACCI],
				 (unsigned long long)expected);
	return NULL;
}

static const struct benchmark table[] = {
	{ "xdp/classify",
	  "packets/s",
	  { addresses_setup, addresses_run, addresses_check, free },
	  .units = ADDRESSES },
};

const struct benchmark_table xdp_benchmarks = { table, sizeof(table) / sizeof(*table) };
