/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_PARALLELISM_H
#define REPORT_PROFILE_PARALLELISM_H

/*
 * How many threads of a process ran at the time of a sample.
 *
 * The timers of all CPUs tick at the same interval. From half of it before a sample to half of it
 * after the sample each CPU has one tick, and it hits a thread of the process if one runs there:
 * the threads hit in this window are those that ran. As the recorder starts the timers one right
 * after the other, their ticks are some ten microseconds apart (a CPU that came online later may be
 * half an interval apart), and what changes between them is seen only on average. Where the
 * number of threads changes, samples nearer to that than half an interval may have either number.
 *
 * Only samples that were recorded are known: not those of CPUs, threads or modes that were left
 * out. Samples of other events than a timer's, and of timers with another interval than the first
 * one that a trace has samples of, have no such number.
 *
 * Samples are taken as a trace has them, nearly in order of time, and given on in order (see
 * in_order.h). Memory is bounded by the trace's definitions.
 */

#include "format/prf.h"

struct parallel_sample {
	uint64_t time_ns, weight;
	uint32_t task, event, stack, waker, waker_task, cpu;
	uint32_t running; /* threads of its process that ran, itself among them; 0: not known */
	bool ticks;	  /* for the module: whether it says who ran */
};

/* What gets the samples; false ends it. */
typedef bool parallelism_take(void *context, const struct parallel_sample *sample);

struct parallelism;

/* NULL without memory. */
struct parallelism *parallelism_new(parallelism_take *take, void *context);
void parallelism_free(struct parallelism *p);

/* From here on samples are those of another trace; the one before has ended. */
void parallelism_begin(struct parallelism *p, const struct prf_reader *reader);

/* Holds samples back as long as others that matter to them may come. False without memory. */
bool parallelism_add(struct parallelism *p, const struct prf_samples *samples);

/* Gives on all that is held back. */
bool parallelism_end(struct parallelism *p);

#endif
