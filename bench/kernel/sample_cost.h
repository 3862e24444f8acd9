/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_SAMPLE_COST_H
#define BENCH_KERNEL_SAMPLE_COST_H

/* What a sample costs in the kernel: ns = fixed + frame x user frames, with 95 % intervals. */

#include "bench/kernel/fault_rounds.h"
#include "bench/statistics/bootstrap.h"

struct sample_cost {
	struct estimate fixed, frame;
};

/* The line of ns by frames. ERROR_MEMORY. */
struct error *sample_cost_fit(struct sample_cost *cost, const struct bootstrap *b,
			      const struct points *points) ERROR_CHECKED;

/* Of rounds of page faults, by what is compared. */
enum sample_cost_way {
	SAMPLE_COST_RUN_TIME,	 /* what the kernel counts around the program */
	SAMPLE_COST_ALL_IN,	 /* faults with the sampler, less those with nothing */
	SAMPLE_COST_PROGRAM,	 /* the same, less those with a program that does nothing */
	SAMPLE_COST_PERF_ALL_IN, /* faults with perf's event, less those with nothing */
};
struct sample_cost sample_cost_of_rounds(const struct fault_rounds *r, enum sample_cost_way way,
					 uint64_t seed);

/*
 * How much larger SAMPLE_COST_PROGRAM is than SAMPLE_COST_RUN_TIME, as shares. They are compared
 * within rounds, because the machine's speed may change between rounds. -1 without memory.
 */
struct sample_cost_agreement {
	struct estimate frame; /* per frame */
	struct estimate at_64; /* a sample of 64 frames */
};
int sample_cost_agreement(const struct fault_rounds *r, uint64_t seed,
			  struct sample_cost_agreement *agreement);

/*
 * What a wait costs with --off-cpu: the run time of the programs at both of its ends, for waits of
 * a worker that sleeps at the depths of fault_depths. The programs also run, briefly, at switches
 * of other tasks, which are few on a quiet machine. ERROR_UNAVAILABLE, with the reason, where
 * they cannot be attached.
 */
struct error *sample_cost_of_waits(struct worker *worker, uint64_t seed,
				   struct sample_cost *cost) ERROR_CHECKED;

#endif
