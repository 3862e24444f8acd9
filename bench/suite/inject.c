/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * INJECT=drain: what was once found in a profiler of this kind, a sleep of up to a second and
 * an allocation for each sample. The linker puts it in front of the resolver (--wrap), so the
 * recorder's own code knows nothing of it. Without INJECT this file is empty.
 */
#ifdef INJECT_drain

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/measure/benchmark.h"
#include "bench/statistics/random.h"
#include "record/trace/resolver.h"

bool __real_resolver_sample(struct resolver *r, struct prf_writer *w, const uint32_t *events,
			    size_t event_count, const void *data, size_t size, int *status);
bool __wrap_resolver_sample(struct resolver *r, struct prf_writer *w, const uint32_t *events,
			    size_t event_count, const void *data, size_t size, int *status);

bool __wrap_resolver_sample(struct resolver *r, struct prf_writer *w, const uint32_t *events,
			    size_t event_count, const void *data, size_t size, int *status)
{
	static struct random random = { { 1, 2, 3, 4 } };
	struct timespec sleep = { 0, (long)random_below(&random, 1000000000) };
	void *copy = malloc(size);

	if (copy)
		memcpy(copy, data, size);
	benchmark_keep(copy);
	nanosleep(&sleep, NULL);
	free(copy);
	return __real_resolver_sample(r, w, events, event_count, data, size, status);
}

#else

extern const char inject_nothing; /* ISO C wants a declaration */

#endif
