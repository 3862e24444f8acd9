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
 * losses_read() reads the counters, losses_write() writes what was lost since its last call. They
 * are separate, since one fails because of the kernel half and the other because of the trace, and
 * the error must say which.
 */
struct error *losses_read(struct losses *a, struct sampler *s);
struct error *losses_write(struct losses *a, struct prf_writer *w, uint64_t now_ns);

/* Writes that a CPU lost this many records of the side band. */
struct error *losses_side_band(struct losses *a, struct prf_writer *w, uint32_t cpu,
			       const struct side_record *record);

/* Number of samples lost so far, for any reason. */
uint64_t losses_samples(const struct losses *a);

/* Prints the losses by reason and CPU; only those that are not 0. */
void losses_show(const struct losses *a);

#endif
