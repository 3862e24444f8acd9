/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "bench/suite/suite.h"
#include "bench/statistics/random.h"
#include "common/buffer.h"
#include "common/cursor.h"
#include "common/map.h"

#define NUMBERS 10000
#define KEYS 10000

/* -------- LEB128 -------- */

struct numbers {
	struct buffer encoded;
	uint64_t sum, expected;
};

static void numbers_teardown(void *state)
{
	struct numbers *n = state;

	buffer_release(&n->encoded);
	free(n);
}

static struct error *numbers_setup(void **state, uint64_t seed)
{
	struct numbers *n = calloc(1, sizeof(*n));
	struct random r;

	if (!n)
		return error_memory();
	random_seed(&r, seed);
	for (size_t i = 0; i < NUMBERS; i++) {
		/* Lengths of one to five bytes, mixed as in deltas. */
		uint64_t value = random_next(&r) >> (29 + random_below(&r, 35));

		buffer_uleb(&n->encoded, value);
		n->expected += value;
	}
	*state = n;
	if (!buffer_ok(&n->encoded)) {
		numbers_teardown(n);
		return error_memory();
	}
	return NULL;
}

static void numbers_run(void *state, uint64_t iterations)
{
	struct numbers *n = state;

	while (iterations--) {
		struct cursor c = cursor_over(n->encoded.data, n->encoded.size);

		n->sum = 0;
		while (cursor_left(&c))
			n->sum += cursor_uleb(&c);
		benchmark_keep(n);
	}
}

static struct error *numbers_check(void *state)
{
	const struct numbers *n = state;

	if (n->sum != n->expected)
		return error_new(ERROR_FAILED, "decoded numbers add up wrong");
	return NULL;
}

static void numbers_size(void *state, uint64_t *units, uint64_t *bytes)
{
	*units = NUMBERS;
	*bytes = ((struct numbers *)state)->encoded.size;
}

/* -------- interning -------- */

struct keys {
	struct map map;
	uint64_t key[KEYS];
	uint64_t found;
};

static void keys_teardown(void *state)
{
	struct keys *k = state;

	map_release(&k->map);
	free(k);
}

static struct error *keys_setup(void **state, uint64_t seed)
{
	struct keys *k = calloc(1, sizeof(*k));
	struct random r;

	if (!k)
		return error_memory();
	random_seed(&r, seed);
	for (size_t i = 0; i < KEYS; i++) {
		uint64_t *value;

		k->key[i] = random_next(&r);
		value = map_put(&k->map, &k->key[i], sizeof(k->key[i]), NULL);
		if (!value) {
			keys_teardown(k);
			return error_memory();
		}
		*value = i;
	}
	*state = k;
	return NULL;
}

static void keys_run(void *state, uint64_t iterations)
{
	struct keys *k = state;

	while (iterations--) {
		k->found = 0;
		for (size_t i = 0; i < KEYS; i++) {
			const uint64_t *value = map_get(&k->map, &k->key[i], sizeof(k->key[i]));

			k->found += value && *value == i;
		}
		benchmark_keep(k);
	}
}

static struct error *keys_check(void *state)
{
	const struct keys *k = state;

	if (k->found != KEYS)
		return error_new(ERROR_FAILED, "%llu of %d keys found",
				 (unsigned long long)k->found, KEYS);
	return NULL;
}

static const struct benchmark table[] = {
	{ "common/uleb",
	  "numbers/s",
	  { numbers_setup, numbers_run, numbers_check, numbers_teardown, numbers_size } },
	{ "common/map",
	  "look-ups/s",
	  { keys_setup, keys_run, keys_check, keys_teardown },
	  .units = KEYS },
};

const struct benchmark_table common_benchmarks = { table, sizeof(table) / sizeof(*table) };
