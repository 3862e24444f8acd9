/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_PAIRS_TIMED_PROGRAM_H
#define BENCH_PAIRS_TIMED_PROGRAM_H

/*
 * A program, and what a run of it takes: the whole run, or its iterations of one benchmark as the
 * program's command `once` measures them. Of a short benchmark's process most is the start, in
 * which a slowdown of the benchmark would not be seen.
 */

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct timed_program_options {
	const char *program;
	char *const *arguments; /* of the whole run; the last is NULL. NULL: none */
	const char *benchmark;	/* NULL: the whole run */
	bool cpu_time;		/* user and system time in place of elapsed time */
	uint64_t seed;		/* of the benchmark's state */
};

struct timed_program {
	struct timed_program_options options;
	const char **arguments; /* the program and all its arguments; the last is NULL */
	char iterations[32], seed[32];
	char folder[32], results[48]; /* where `once` writes */
};

/* Texts of the options must stay, and `*p` where it is. Release it also after an error. */
struct error *timed_program_init(struct timed_program *p,
				 const struct timed_program_options *options) ERROR_CHECKED;
void timed_program_release(struct timed_program *p);

/* A run; `*ns` is above 0. A program that fails has no time. */
struct error *timed_program_run(const struct timed_program *p, double *ns) ERROR_CHECKED;

/* How many iterations take about 20 ms, and let each run from now on do so many. */
struct error *timed_program_calibrate(struct timed_program *p, uint64_t *iterations) ERROR_CHECKED;
void timed_program_set_iterations(struct timed_program *p, uint64_t iterations);

#endif
