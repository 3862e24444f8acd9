/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_LOSSES_H
#define RECORD_LOSSES_H

/*
 * What became of every sample that fired: the kernel half counts per CPU, and here the
 * counts become loss records, located by CPU and time.
 */

#include "format/prf.h"
#include "record/capture/sampler.h"

struct losses {
	struct sample_counters *last, *now; /* per possible CPU */
	size_t cpus;
	uint64_t last_ns;
	uint64_t fired, sent; /* sums */
	uint64_t
		lost[PRF_LOSS_COUNT]; /* samples; but of side-band records for PRF_LOSS_SIDE_BAND */
};

/* 0 or -ENOMEM. */
int losses_init(struct losses *a, size_t cpus, uint64_t now_ns);
void losses_release(struct losses *a);

/* Reads the counters and writes what was lost since the last time. 0 or -errno. */
int losses_update(struct losses *a, struct sampler *s, struct prf_writer *w, uint64_t now_ns);

/* Records of the side band that were lost on a CPU. 0 or -errno. */
int losses_side_band(struct losses *a, struct prf_writer *w, uint32_t cpu, uint64_t time_ns,
		     uint64_t count);

/* Samples that were lost, for whatever reason. */
uint64_t losses_samples(const struct losses *a);

#endif
