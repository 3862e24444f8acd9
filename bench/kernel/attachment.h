/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KERNEL_ATTACHMENT_H
#define BENCH_KERNEL_ATTACHMENT_H

/*
 * What may be attached to an event on the worker's CPU: nothing, a program that does
 * nothing, or prof-record's real sampling program with its unwind tables.
 */

#include "bench/kernel/program.h"
#include "bench/kernel/worker.h"
#include "bench/measure/benchmark.h"
#include "bpf/abi/unwind.h"
#include "record/capture/sampler.h"
#include "record/javascript/javascript.h"
#include "record/trace/name_ring.h"
#include "record/scripts/scripts.h"
#include "record/unwind/unwinder.h"

struct trivial_bpf;
struct wait_bpf;
struct bpf_link;

struct attachment {
	bool time_phases; /* wanted; set before the sampler is attached */
	struct event_list events;
	struct sampler *sampler;
	struct objects *objects;
	struct spaces *spaces; /* the worker's mappings */
	struct unwinder *unwinder;
	struct scripts *scripts;
	struct javascript *javascript;
	struct program *program;   /* what the event runs; with waits, at their end */
	struct program *walking;   /* without waits: what that calls, where no runtime is known */
	struct program *departure; /* with waits: the one that notes their beginning */
	double load_ns;		   /* of the sampler's programs: open, verify, JIT */

	struct trivial_bpf *trivial;
	struct bpf_link *link;
	struct wait_bpf *wait;
};

/* Starts as { 0 }, but for what is wanted. */
void attachment_release(struct attachment *a);

struct attachment_options {
	const char *event; /* as -e takes it: "page-faults/period=1/", "cpu-clock/freq=999/" */
	unsigned int cpu;
	enum unwind_by unwind_by;
};

struct error *attachment_sampler(struct attachment *a, const struct worker *worker,
				 const struct attachment_options *wanted) ERROR_CHECKED;

/*
 * The programs of --off-cpu, for waits of any length. They are not bound to a CPU: they sample the
 * worker's waits, but run at every task's switches.
 */
struct error *attachment_waits(struct attachment *a, const struct worker *worker) ERROR_CHECKED;

/*
 * The same programs, loaded but attached to nothing, and a program for test runs that does what
 * they do for one wait: `program`. `departure` is one that does nothing.
 */
struct error *attachment_test_waits(struct attachment *a,
				    const struct worker *worker) ERROR_CHECKED;

/* The program that does nothing, at every page fault on that CPU. */
struct error *attachment_trivial(struct attachment *a, unsigned int cpu) ERROR_CHECKED;

/* What came out of the sampler since the last call; empties the rings. */
struct attachment_samples {
	uint64_t fired, sent, lost;	    /* counters, as differences */
	uint64_t samples;		    /* read */
	uint64_t rooted;		    /* of them, whose user stack was whole */
	uint32_t least_frames, most_frames; /* of user stacks */
	uint64_t kernel_frames, script_frames;
	uint64_t bytes;
};
struct error *attachment_drain(struct attachment *a,
			       struct attachment_samples *found) ERROR_CHECKED;

#endif
