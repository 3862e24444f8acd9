/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_WORKER_H
#define BENCH_KERNEL_WORKER_H

/*
 * A child process on one CPU that is sampled: it calls itself to a chosen depth and there touches
 * fresh pages, one fault each, or computes for a while, or sleeps, or has the kernel run a BPF
 * program. So a software event on page faults with period 1 runs a sampling program as often as
 * wanted, synchronously and with real user registers, without a timer.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum worker_task {
	WORKER_FAULT,		/* `amount` pages */
	WORKER_FAULT_IN_KERNEL, /* the same pages, touched by a system call for each */
	WORKER_SPIN,		/* `amount` rounds of computing */
	WORKER_SPIN_ELAPSED,	/* the same, by elapsed time */
	WORKER_SLEEP,		/* `amount` of the shortest possible sleeps */
	WORKER_TEST_RUN,	/* `amount` runs of `program_id` by the kernel */
};

struct worker {
	pid_t pid; /* 0: none */
	int to, from;
	uint32_t program_id; /* of a BPF program, for WORKER_TEST_RUN */
};

#define WORKER_FAULTS_MAX 20000
#define WORKER_DEPTH_MAX 480

/* The last CPU that we may use: the first ones have more interrupts to serve. */
unsigned int worker_choose_cpu(void);

/* Forks it onto that CPU. 0 or -errno. */
int worker_start(struct worker *w, unsigned int cpu);
void worker_stop(struct worker *w);

struct worker_order {
	enum worker_task task;
	uint32_t depth; /* calls below its main function */
	uint32_t amount;
};

/*
 * Has it do one task; `ns` is the CPU time it took, for WORKER_SLEEP and WORKER_SPIN_ELAPSED the
 * elapsed time. -1 when it is gone or cannot.
 */
int worker_do(struct worker *w, const struct worker_order *order, double *ns);

#endif
