/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_ACCOUNTS_H
#define RECORD_ACCOUNTS_H

/*
 * What became of every sample that fired: the kernel half counts per CPU, and here the
 * counts become loss records, located by CPU and time.
 */

#include "format/prf.h"
#include "record/sampler.h"

struct accounts {
	struct sample_counters *last, *now; /* per possible CPU */
	size_t cpus;
	uint64_t last_ns;
	uint64_t fired, sent; /* sums */
	uint64_t
		lost[PRF_LOSS_COUNT]; /* samples; but of side-band records for PRF_LOSS_SIDE_BAND */
};

/* 0 or -ENOMEM. */
int accounts_init(struct accounts *a, size_t cpus, uint64_t now_ns);
void accounts_release(struct accounts *a);

/* Reads the counters and writes what was lost since the last time. 0, -errno or a prf_error. */
int accounts_update(struct accounts *a, struct sampler *s, struct prf_writer *w, uint64_t now_ns);

/* Records of the side band that were lost on a CPU. 0 or a prf_error. */
int accounts_side_band(struct accounts *a, struct prf_writer *w, uint32_t cpu, uint64_t time_ns,
		       uint64_t count);

/* Samples that were lost, for whatever reason. */
uint64_t accounts_lost(const struct accounts *a);

#endif
