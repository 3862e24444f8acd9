/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEASURE_RECORDING_H
#define BENCH_MEASURE_RECORDING_H

/* Recordings by prof-record, in a folder of their own, which goes with them. */

#include <limits.h>

#include "common/error.h"

/* A rate at which a recording is for: samples per second and CPU. */
#define RECORDING_RATE 4999

struct recording {
	char folder[32];
	char trace[48];	 /* the last one */
	char folded[48]; /* its stacks, after recording_fold() */
	char said[48];	 /* what the programs wrote to their standard error */
	char record[PATH_MAX], report[PATH_MAX];
};

/* prof-record and prof-report are those beside this program, or in PATH. */
struct error *recording_begin(struct recording *r) ERROR_CHECKED;

/*
 * Makes a trace: options besides those for rate and trace, and a command to run; both end with
 * NULL, or are NULL.
 */
struct error *recording_run(const struct recording *r, const char *const *options,
			    const char *const *command) ERROR_CHECKED;

/* Writes the stacks of the last trace, one a line: "frame;frame;leaf N". */
struct error *recording_fold(const struct recording *r) ERROR_CHECKED;

void recording_end(const struct recording *r);

#endif
