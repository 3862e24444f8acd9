/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linkage names as the report shows them, made from a seed: C++ and Rust in turns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suite/suite.h"
#include "bench/statistics/random.h"
#include "report/symbols/demangle.h"

#define NAMES 1000

struct names {
	char *mangled[NAMES];
	size_t readable; /* of the last run */
};

static void names_teardown(void *state)
{
	struct names *n = state;

	for (size_t i = 0; i < NAMES; i++)
		free(n->mangled[i]);
	free(n);
}

static int make_name(char **name, struct random *r, size_t i)
{
	unsigned int type = (unsigned int)random_below(r, 90) + 10;
	unsigned int member = (unsigned int)random_below(r, 900) + 100;

	switch (i % 4) {
	case 0: /* space::class42::member123(int, char const*) */
		return asprintf(name, "_ZN5space7class%u9member%uEiPKc", type, member);
	case 1: /* std::vector<space::class42, std::allocator<...> >::push_back(...) */
		return asprintf(name, "_ZNSt6vectorIN5space7class%uESaIS1_EE9push_backERKS1_",
				type);
	case 2: /* space::function123<std::map<int, space::class42, ...> >(...) */
		return asprintf(name,
				"_ZN5space11function%uISt3mapIiNS_7class%uESt4lessIiESaISt4pairI"
				"KiS2_EEEEEvRT_",
				member, type);
	default: /* room42::member123 */
		return asprintf(name, "_ZN6room%u9member%u17h0123456789abcdefE", type, member);
	}
}

static struct error *names_setup(void **state, uint64_t seed)
{
	struct names *n = calloc(1, sizeof(*n));
	struct random r;

	random_seed(&r, seed);
	for (size_t i = 0; n && i < NAMES; i++) {
		if (make_name(&n->mangled[i], &r, i) < 0) {
			n->mangled[i] = NULL;
			names_teardown(n);
			n = NULL;
		}
	}
	if (!n)
		return error_memory();
	*state = n;
	return NULL;
}

static void names_run(void *state, uint64_t iterations)
{
	struct names *n = state;

	while (iterations--) {
		struct arena arena = { 0 };

		n->readable = 0;
		for (size_t i = 0; i < NAMES; i++) {
			const char *name = demangle(n->mangled[i], false, &arena);

			n->readable += name && strstr(name, "::") && strncmp(name, "_Z", 2);
		}
		arena_release(&arena);
	}
}

static struct error *names_check(void *state)
{
	const struct names *n = state;

	if (n->readable != NAMES)
		return error_new(ERROR_FAILED, "%zu of %d names became readable", n->readable,
				 NAMES);
	return NULL;
}

static const struct benchmark table[] = {
	{ "report/demangle",
	  "names/s",
	  { names_setup, names_run, names_check, names_teardown },
	  .units = NAMES },
};

const struct benchmark_table demangle_benchmarks = { table, sizeof(table) / sizeof(*table) };
