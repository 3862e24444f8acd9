/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_WAIT_RUNS_H
#define BENCH_KERNEL_WAIT_RUNS_H

/*
 * What the code for a wait costs in the kernel, by test runs: a worker has the kernel run a
 * whole wait (bench/kernel/wait.bpf.c) at a chosen call depth, exactly as often as asked. Each run
 * is a sample, which is checked.
 */

#include "bench/kernel/sample_cost.h"
#include "bench/kernel/worker.h"
#include "bench/measure/benchmark.h"

struct wait_runs_result {
	struct sample_cost counted;    /* as the kernel counts around the program */
	struct sample_cost difference; /* CPU time of a test run, less one of nothing */
};

/*
 * At the depths of fault_depths. ERROR_UNAVAILABLE, with the kernel's reason, where it runs no such
 * programs.
 */
struct error *wait_runs_measure(struct worker *worker, uint64_t seed,
				struct wait_runs_result *result) ERROR_CHECKED;

#endif
