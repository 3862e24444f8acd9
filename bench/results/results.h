/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_RESULTS_RESULTS_H
#define BENCH_RESULTS_RESULTS_H

/*
 * What a command measured: for each benchmark some measures, each a value and perhaps a
 * range. Written and read as Bencher Metric Format (BMF), the JSON object
 *
 *     { "format/encode": { "latency": { "value": 12.3, "lower_value": 12.1, "upper_value": 12.6 } }
 * }
 *
 * A bound that is not known is left out, a value that is not a number is never accepted:
 * what was not measured is not there. Measures are slugs with these units:
 *
 *     latency ns                   throughput operations/s       file-size bytes
 *     build-time s                 instructions                  estimated-cycles
 *     l1-hits ll-hits ram-hits     total-bytes total-blocks      at-t-gmax-bytes ...
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench/statistics/statistics.h"
#include "common/error.h"

struct result {
	char *benchmark;
	char *measure;
	struct estimate estimate;
	bool has_bounds;
};

/* Starts as { 0 }. */
struct results {
	struct result *all;
	size_t count, capacity;
};

void results_release(struct results *r);

/*
 * Adds a copy, or replaces what has the names. Returns -1 for a value or bound that is not finite,
 * for an empty name, for a name too long for BMF (1024 and 64 bytes), and without memory.
 */
int results_add(struct results *r, const struct result *new);
int results_value(struct results *r, const char *benchmark, const char *measure, double value);
int results_estimate(struct results *r, const char *benchmark, const char *measure,
		     struct estimate estimate);

/* NULL when there is none. */
const struct result *results_find(const struct results *r, const char *benchmark,
				  const char *measure);

/* To a file, through a temporary one beside it; "-" is stdout. */
struct error *results_write_bmf(const struct results *r, const char *path) ERROR_CHECKED;

/*
 * From a file, "-" for stdin. Strict: what the published schema does not allow is refused.
 * Errors name the file.
 */
struct error *results_read_bmf(struct results *r, const char *path) ERROR_CHECKED;

/* The same from and to a json_t object of the jansson library. */
struct json_t;
struct json_t *results_to_json(const struct results *r);
struct error *results_from_json(struct results *r, const struct json_t *object) ERROR_CHECKED;

#endif
