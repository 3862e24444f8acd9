/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>

#include "bench/results/commands.h"
#include "bench/results/output.h"
#include "bench/statistics/random.h"

/* The name carries no measured thing, so that its numbers are not taken for real ones. */
enum verdict mock_command(const struct settings *s)
{
	struct results results = { 0 };
	struct random r;
	enum verdict verdict;

	random_seed(&r, s->seed);
	for (uint64_t i = 0; i < s->count; i++) {
		double value = pow(10, s->power) * (double)(i + 1);
		char name[32];

		value *= exp(random_normal(&r) * s->spread / 100);
		snprintf(name, sizeof(name), "mock/%llu", (unsigned long long)i);
		if (results_estimate(&results, name, "latency",
				     (struct estimate){ value, value * 0.9, value * 1.1 }))
			return VERDICT_ERROR;
		output_line("%-32s %s", name, output_time(value).text);
	}
	verdict = output_bmf(&results);
	results_release(&results);
	return verdict;
}
