/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_FAULT_ROUNDS_H
#define BENCH_KERNEL_FAULT_ROUNDS_H

/*
 * Page faults of a worker at several call depths, in rounds of four states: with nothing
 * attached, with a program that does nothing, with the sampler, and with perf's own event. Each
 * round has each state once, so that the states can be compared within rounds.
 */

#include "bench/kernel/attachment.h"
#include "bench/kernel/perf_stacks.h"

#define FAULT_DEPTHS 5
#define FAULT_ROUNDS_MOST 60

extern const uint32_t fault_depths[FAULT_DEPTHS];

enum fault_state { FAULT_NOTHING, FAULT_TRIVIAL, FAULT_SAMPLER, FAULT_PERF, FAULT_STATES };

/* ns per fault in each state, and ns per run as the kernel counts them, at each depth. */
struct fault_round {
	double fault_ns[FAULT_STATES][FAULT_DEPTHS];
	double run_ns[FAULT_DEPTHS];
};

/* The caller fills the first four. */
struct fault_rounds {
	struct worker *worker;
	unsigned int cpu;
	enum unwind_by unwind_by;   /* of the sampler */
	enum perf_stacks_kind perf; /* what perf's event takes */

	struct fault_round all[FAULT_ROUNDS_MOST];
	size_t count;
	double frames[FAULT_DEPTHS]; /* user frames of the sampler's stacks */
	double kernel_frames;
	double load_ns[FAULT_ROUNDS_MOST]; /* of the sampler's programs */
	size_t tries, clean; /* batches counted by the kernel, and those without runs for others */
	struct program_sizes sizes;
	struct perf_stacks_found perf_found; /* in the last round */
	struct perf_stacks *attached;	     /* perf's event, while it is open */
};

/* Takes `n` rounds (at most FAULT_ROUNDS_MOST), after a first one that is not kept. */
struct error *fault_rounds_take(struct fault_rounds *r, size_t n) ERROR_CHECKED;

#endif
