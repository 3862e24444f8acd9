/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_PYTHON_FRAMES_H
#define BENCH_KERNEL_PYTHON_FRAMES_H

/*
 * What the frames of a Python program cost in the kernel: ns = fixed + frame x its own frames, by
 * the time that the sampling program itself takes for them. The program is run by the python3 of
 * PATH; it calls as many different functions as it has frames, and touches fresh pages in the last.
 */

#include "bench/kernel/sample_cost.h"

struct python_frames {
	char version[32]; /* "3.11.2" */
	struct sample_cost cost;
};

/* ERROR_UNAVAILABLE, with the reason, where there is no Python that can be sampled. */
struct error *python_frames_measure(struct python_frames *found, unsigned int cpu, uint64_t seed);

#endif
