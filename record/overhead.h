/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_OVERHEAD_H
#define RECORD_OVERHEAD_H

/* What a recording itself costs: in the kernel, in the recorder, in memory. */

#include "record/capture/sampler.h"
#include "record/losses.h"
#include "record/sources.h"
#include "record/trace/trace_file.h"

struct overhead {
	int counting_fd;       /* keeps the kernel measuring its BPF programs; -1: it does not */
	uint64_t ring_peak;    /* bytes that waited in the fullest ring */
	uint64_t runs, run_ns; /* of our programs in the kernel, since they were loaded */
	uint64_t cpu_ns, peak_memory; /* of the recorder */
};

void overhead_init(struct overhead *e);

/* Has the kernel measure its programs, which costs them a little. */
struct error *overhead_count(struct overhead *e);
void overhead_release(struct overhead *e);

/* Brings all numbers up to date. */
void overhead_update(struct overhead *e, const struct sources *sources);

/* Into the trace. */
struct error *overhead_write(const struct overhead *e, struct trace_file *f);

/* To the user. `duration_ns` is that of the recording. */
void overhead_show(const struct overhead *e, const struct losses *losses, uint64_t duration_ns);

#endif
