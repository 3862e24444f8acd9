/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_SIDEBAND_H
#define RECORD_CAPTURE_SIDEBAND_H

/*
 * The kernel's own account of mappings, names, forks and exits: one event that never fires
 * on each CPU, with a ring of its own, on the same clock as the samples.
 */

#include "record/capture/side_record.h"
#include "record/system/cpus.h"

struct sideband;

/*
 * Opens it, disabled, on all CPUs, with rings of `bytes` (a power of two; less where the
 * kernel does not allow as much). 0 or -errno.
 */
int sideband_new(struct sideband **sideband, const struct cpus *cpus, uint64_t bytes);
void sideband_free(struct sideband *s);

void sideband_enable(struct sideband *s);

/* The CPU was offline: its ring gets records again. 0 or -errno. */
int sideband_cpu_came_back(struct sideband *s, uint32_t cpu);
void sideband_disable(struct sideband *s);

/* Rings are numbered from 0; each is in order of time. */
size_t sideband_rings(const struct sideband *s);
uint32_t sideband_cpu(const struct sideband *s, size_t ring);

/*
 * Time of a ring's oldest record, UINT64_MAX when it is empty, or when somebody looks ahead
 * and has not seen it yet.
 */
uint64_t sideband_peek(struct sideband *s, size_t ring);

/* Takes the oldest record; false when it makes no sense. Its name is valid until the next. */
bool sideband_take(struct sideband *s, size_t ring, struct side_record *record);

/*
 * The same for who cannot wait until the record's time has come: the oldest record that was
 * not seen this way yet. It stays in the ring for sideband_take().
 */
uint64_t sideband_peek_ahead(struct sideband *s, size_t ring);
bool sideband_take_ahead(struct sideband *s, size_t ring, struct side_record *record);

/* An fd that is readable (POLLIN) when there are new records in a ring. */
int sideband_fd(const struct sideband *s, size_t ring);

/* How full the fullest ring is, in percent. */
unsigned int sideband_filled(const struct sideband *s);

#endif
