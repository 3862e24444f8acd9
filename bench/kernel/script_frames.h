/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_SCRIPT_FRAMES_H
#define BENCH_KERNEL_SCRIPT_FRAMES_H

/*
 * What the frames of a Python, Ruby or PHP program cost in the kernel: ns = fixed + frame x its own
 * frames, by the time that the sampling program itself takes for them. The program is run by the
 * interpreter of PATH; it calls as many different functions as it has frames, and touches fresh
 * pages in the last.
 */

#include "bench/kernel/sample_cost.h"

struct script_program {
	const char *language, *slug;
	const char *const *command;
};

#define SCRIPT_PROGRAMS 3
extern const struct script_program script_programs[SCRIPT_PROGRAMS];

struct script_frames {
	char version[32]; /* "3.11.2" */
	struct sample_cost cost;
};

/* ERROR_UNAVAILABLE, with the reason, where there is no such program that can be sampled. */
struct error *script_frames_measure(struct script_frames *found,
				    const struct script_program *program, unsigned int cpu,
				    uint64_t seed);

#endif
