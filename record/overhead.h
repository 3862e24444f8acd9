/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_OVERHEAD_H
#define RECORD_OVERHEAD_H

/* What a recording costs: in the kernel, in the recorder, in memory. */

#include "record/losses.h"
#include "record/sources.h"
#include "record/trace/trace_file.h"

struct overhead {
	int counting_fd;       /* keeps the kernel measuring its BPF programs; -1: it does not */
	uint64_t ring_peak;    /* most bytes seen waiting in a ring */
	uint64_t runs, run_ns; /* of our BPF programs, since they were loaded; ns */
	uint64_t cpu_ns;       /* of the recorder and its reader */
	uint64_t peak_memory;  /* of the recorder, in bytes */
};

void overhead_init(struct overhead *e);

/* Makes the kernel measure BPF programs, at a small cost for each run. */
struct error *overhead_count(struct overhead *e);
void overhead_release(struct overhead *e);

/* Updates all numbers. */
void overhead_update(struct overhead *e, const struct sources *sources);

/* Writes the numbers to the trace. */
struct error *overhead_write(const struct overhead *e, struct trace_file *f);

/* Prints the numbers. `duration_ns` is that of the recording. */
void overhead_show(const struct overhead *e, const struct losses *losses, uint64_t duration_ns);

#endif
