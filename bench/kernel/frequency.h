/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_FREQUENCY_H
#define BENCH_KERNEL_FREQUENCY_H

/*
 * What a sample by timer costs altogether, with its interrupt and the timer's set-up: the
 * same work is done under sampling at 0 to 4999 Hz in changing order, and the slope of its
 * time over the samples taken is ns per sample.
 */

#include "bench/kernel/attachment.h"
#include "bench/kernel/perf_stacks.h"

struct frequency_options {
	uint64_t seed;
	unsigned int cpu;
	size_t rounds;
	double seconds; /* that the work takes, about */
	uint32_t depth; /* calls below the worker's main function */
	enum unwind_by unwind_by;
	enum perf_stacks_kind perf; /* not NONE: this in place of the sampler */
};

struct frequency_result {
	struct estimate ns; /* per sample */
	uint64_t samples, lost;
	bool by_cpu_time; /* the CPU time includes interrupts; false: elapsed time was taken */
};

struct error *frequency_measure(const struct frequency_options *options,
				struct frequency_result *result) ERROR_CHECKED;

#endif
