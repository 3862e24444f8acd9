/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_LOSSES_H
#define RECORD_LOSSES_H

/*
 * What became of every sample that fired: the kernel half counts per CPU, and here the
 * counts become loss records, located by CPU and time.
 */

#include "common/error.h"
#include "format/prf.h"
#include "record/capture/sampler.h"
#include "record/capture/side_record.h"

struct losses {
	struct sample_counters *last, *now; /* per possible CPU */
	size_t cpus;
	uint64_t last_ns;
	uint64_t fired, sent;	       /* sums */
	uint64_t lost[PRF_LOSS_COUNT]; /* samples; with PRF_LOSS_SIDE_BAND, mapping records */
};

struct error *losses_init(struct losses *a, size_t cpus, uint64_t now_ns);
void losses_release(struct losses *a);

/*
 * Reads the counters, and writes what was lost since the last time. The first fails for reasons
 * of the kernel half, the second for those of the trace: an error must name the right one.
 */
struct error *losses_read(struct losses *a, struct sampler *s);
struct error *losses_write(struct losses *a, struct prf_writer *w, uint64_t now_ns);

/* Records of the side band that were lost on a CPU. */
struct error *losses_side_band(struct losses *a, struct prf_writer *w, uint32_t cpu,
			       const struct side_record *record);

/* Samples that were lost, for whatever reason. */
uint64_t losses_samples(const struct losses *a);

/* By reason and CPU, to the user; only where there was loss. */
void losses_show(const struct losses *a);

#endif
