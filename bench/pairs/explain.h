/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_PAIRS_EXPLAIN_H
#define BENCH_PAIRS_EXPLAIN_H

/*
 * Where two builds of a program differ: both are recorded with prof-record, in turns, and the time
 * that each function takes itself is compared between the recordings of the two sides. Functions
 * are compared by name, as prof-report prints it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/statistics/statistics.h"
#include "common/error.h"

struct explain_options {
	const char *const *arguments[2]; /* of the old and the new program; the last is NULL */
	size_t rounds;			 /* recordings of each side */
	uint64_t seed;
};

struct explained_function {
	char *name;
	double ns[2];		    /* CPU time of a run, without what it calls: old, new */
	struct estimate difference; /* of the two, with an interval of 99 % */
	bool sure; /* as if none changed, in 99 of 100 comparisons no function would be */
};

/* Starts as { 0 }. */
struct explanation {
	struct explained_function *all; /* those that changed the most first */
	size_t count;
	double ns[2]; /* of all functions */
};

/* Records and compares. prof-record and prof-report are those beside this program, or in PATH. */
struct error *explain(struct explanation *e, const struct explain_options *options) ERROR_CHECKED;
void explanation_release(struct explanation *e);

/*
 * The part without recordings: round `i` of side `s` took samples[s][i] as folded stacks, a file
 * that lists lines of "frame;frame;leaf N".
 */
struct folded_functions;
struct folded_functions *folded_functions_new(size_t rounds);
void folded_functions_free(struct folded_functions *f);
struct error *folded_functions_add(struct folded_functions *f, const char *path, int side,
				   size_t round) ERROR_CHECKED;
struct error *folded_functions_compare(const struct folded_functions *f, double period_ns,
				       uint64_t seed, struct explanation *e) ERROR_CHECKED;

#endif
