/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_SIDEBAND_H
#define RECORD_CAPTURE_SIDEBAND_H

/*
 * The side band: the kernel's records of mappings, names, forks and exits. On each CPU one event
 * that never fires writes them to a ring of its own, with the same clock as the samples.
 */

#include "common/error.h"
#include "record/capture/side_record.h"
#include "record/system/cpus.h"

struct sideband;

/*
 * Opens the events, disabled, on all CPUs, with rings of `bytes` each (a power of two; smaller
 * where the kernel does not allow as much). ERROR_UNSUPPORTED: the kernel is too old.
 */
struct error *sideband_new(struct sideband **sideband, const struct cpus *cpus, uint64_t bytes);
void sideband_free(struct sideband *s);

void sideband_enable(struct sideband *s);
void sideband_disable(struct sideband *s);

/* To be called when a CPU is online again: its ring receives records again. */
struct error *sideband_cpu_came_back(struct sideband *s, uint32_t cpu);
/*
 * How long a CPU's event has been enabled so far, in ns, by the kernel; UINT64_MAX: that is not
 * known. It stands still once the CPU has gone offline, even when that is online again.
 */
uint64_t sideband_enabled_ns(const struct sideband *s, uint32_t cpu);

/* Number of rings; they are numbered from 0, and each is in order of time. */
size_t sideband_rings(const struct sideband *s);
uint32_t sideband_cpu(const struct sideband *s, size_t ring);

/*
 * Time of a ring's oldest record; UINT64_MAX when the ring is empty, or when the reader that looks
 * ahead has not seen the record yet.
 */
uint64_t sideband_peek(struct sideband *s, size_t ring);

/* Removes the oldest record. False when it is malformed. Its name is valid until the next call. */
bool sideband_take(struct sideband *s, size_t ring, struct side_record *record);

/*
 * The same for a reader that looks ahead of the samples' time: time of the oldest record that was
 * not taken this way yet. The record stays in the ring for sideband_take().
 */
uint64_t sideband_peek_ahead(struct sideband *s, size_t ring);
bool sideband_take_ahead(struct sideband *s, size_t ring, struct side_record *record);

/* An fd that is readable (POLLIN) when there are new records in a ring. */
int sideband_fd(const struct sideband *s, size_t ring);

/* How full the fullest ring is, in percent. */
unsigned int sideband_filled(const struct sideband *s);

#endif
