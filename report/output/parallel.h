/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_OUTPUT_PARALLEL_H
#define REPORT_OUTPUT_PARALLEL_H

/*
 * Runs numbered jobs on several threads. Jobs are taken in order, so the heaviest should
 * come first.
 */

#include <stddef.h>

#define PARALLEL_THREADS_MAX 64

/* A job; `worker` is below the number of threads, and no two jobs run with the same one. */
typedef void parallel_job(size_t job, unsigned int worker, void *context);

/* `threads` as asked for, or with 0 one per CPU that we may use; at most PARALLEL_THREADS_MAX. */
unsigned int parallel_threads(unsigned int threads);

/*
 * Runs all jobs and returns when they are done. The caller works too, so that nothing is
 * left undone where no thread can be started.
 */
void parallel_run(size_t jobs, unsigned int threads, parallel_job *job, void *context);

#endif
