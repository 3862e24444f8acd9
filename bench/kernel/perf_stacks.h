/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_PERF_STACKS_H
#define BENCH_KERNEL_PERF_STACKS_H

/*
 * The kernel's part of perf record: an event on one process with perf's own settings, whose samples
 * hold a call chain (-g) or registers and a copy of the stack (--call-graph dwarf). It is driven as
 * the sampling program is. What perf does with the samples afterwards (reading, writing and
 * unwinding them) is not included.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench/measure/benchmark.h"

enum perf_stacks_kind {
	PERF_STACKS_NONE,
	PERF_STACKS_CALL_CHAIN, /* perf record -g */
	PERF_STACKS_COPY,	/* perf record --call-graph dwarf */
};

struct perf_stacks_options {
	enum perf_stacks_kind kind;
	uint64_t event; /* PERF_COUNT_SW_... */
	uint64_t period;
	pid_t pid;
	unsigned int cpu;
	size_t ring_bytes; /* a power of two */
};

struct perf_stacks {
	int fd;
	size_t page_bytes, ring_bytes;
	struct perf_event_mmap_page *ring;
};

/* Opens and starts it. Unless that is OK there is nothing to release. */
struct error *perf_stacks_open(struct perf_stacks *p,
			       const struct perf_stacks_options *options) ERROR_CHECKED;
void perf_stacks_release(struct perf_stacks *p);

/* What came out of the ring; starts as { 0 }. */
struct perf_stacks_found {
	uint64_t samples, lost, bytes;
	uint64_t most_frames; /* of call chains */
};

/* Empties the ring and adds what was in it. */
void perf_stacks_drain(struct perf_stacks *p, struct perf_stacks_found *found);

#endif
