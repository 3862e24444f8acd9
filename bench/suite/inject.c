/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * INJECT=drain: a sleep of up to a second and an allocation for each sample, a fault that a
 * profiler of this kind once had. INJECT=nap: a short sleep alone, which neither counts nor CPU
 * time show. The linker puts them in front of the resolver (--wrap), in prof-bench for the gates
 * and in prof-record for `make oops`, so the recorder's own code knows nothing of them. Without
 * INJECT this file is empty.
 */
#if defined(INJECT_drain) || defined(INJECT_nap)

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/measure/benchmark.h"
#include "record/trace/resolver.h"

struct error *__real_resolver_resolve(struct resolver *r, const struct sample *s,
				      struct prf_sample *sample);
struct error *__wrap_resolver_resolve(struct resolver *r, const struct sample *s,
				      struct prf_sample *sample);

#ifdef INJECT_drain
/* The name that a profile of the recorder has to show. */
__attribute__((noinline)) static void oops(const struct sample *s)
{
	struct timespec sleep = { 0, random() % 1000000000 };
	void *copy = malloc(sizeof(*s));

	if (copy)
		memcpy(copy, s, sizeof(*s));
	benchmark_keep(copy);
	nanosleep(&sleep, NULL);
	free(copy);
}
#else
static void oops(const struct sample *s)
{
	const struct timespec sleep = { 0, 100000 };

	(void)s;
	nanosleep(&sleep, NULL);
}
#endif

struct error *__wrap_resolver_resolve(struct resolver *r, const struct sample *s,
				      struct prf_sample *sample)
{
	oops(s);
	return __real_resolver_resolve(r, s, sample);
}

#else

extern const char inject_nothing; /* ISO C wants a declaration */

#endif
