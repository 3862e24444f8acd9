/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPF_ABI_PHASES_H
#define BPF_ABI_PHASES_H

/*
 * How long the phases of a sample take, as the kernel half measures it when prof-bench asks
 * for it: for each CPU and phase a sum and a histogram by powers of two.
 */

#include <linux/types.h>

enum phase {
	PHASE_CLOCK,	/* nothing: the cost of reading the clock, which is in all phases */
	PHASE_QUESTION, /* whether this task is a target */
	PHASE_RECORD,	/* the scratch, and the sample but for its frames */
	PHASE_USER,	/* the registers and the user stack */
	PHASE_KERNEL,	/* the kernel's stack, where the kernel was interrupted */
	PHASE_SCRIPT,	/* the frames that a runtime keeps aside */
	PHASE_SUBMIT,	/* into the ring */
	PHASE_COUNT
};

#define PHASE_BINS 24

struct phase_time {
	__u64 samples;
	__u64 ns;
	__u64 bins[PHASE_BINS]; /* bin i: 2^i ns and more; the first from 0, the last without end */
};

struct phase_times {
	__u64 since; /* when the current phase began; used by the kernel half only */
	struct phase_time phases[PHASE_COUNT];
};

#endif
