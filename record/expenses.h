/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_EXPENSES_H
#define RECORD_EXPENSES_H

/* What a recording itself costs: in the kernel, in the recorder, in memory. */

#include "record/accounts.h"
#include "record/sampler.h"

struct expenses {
	int counting_fd;       /* keeps the kernel measuring its BPF programs; -1: it does not */
	uint64_t ring_peak;    /* bytes that waited in the fullest ring */
	uint64_t runs, run_ns; /* of our programs in the kernel, since they were loaded */
	uint64_t cpu_ns, peak_memory; /* of the recorder */
};

void expenses_init(struct expenses *e);

/* Has the kernel measure its programs, which costs them a little. 0 or -errno. */
int expenses_count(struct expenses *e);
void expenses_release(struct expenses *e);

/* Brings all numbers up to date. */
void expenses_update(struct expenses *e, const struct sampler *sampler);

/* Into the trace. 0 or a prf_error. */
int expenses_write(const struct expenses *e, struct prf_writer *w);

/* To the user. `duration_ns`: of the recording; `accounts`: what became of what fired. */
void expenses_show(const struct expenses *e, const struct accounts *accounts, uint64_t duration_ns);

#endif
