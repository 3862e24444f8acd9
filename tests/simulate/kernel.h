/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_SIMULATE_KERNEL_H
#define TESTS_SIMULATE_KERNEL_H

/*
 * The kernel's side of the recorder's rings, in memory: the side band of each CPU as
 * record/capture/sideband.c reads it, and the BPF rings of the sampler. Records are written with
 * their times, and become visible later, as on a real machine; what finds no room is lost, and
 * counted as the kernel counts it.
 */

#include "bpf/abi/sample.h"
#include "record/capture/sampler.h"
#include "record/capture/sideband.h"

#define KERNEL_CPUS 4
#define KERNEL_RINGS 2

struct kernel;

/* One at a time: the recorder asks for "the CPUs that are online". */
struct kernel *kernel_new(void);
/* The sideband and the sampler stay; they have functions of their own to free them. */
void kernel_free(struct kernel *k);

struct sideband *kernel_sideband(struct kernel *k);
struct sampler *kernel_sampler(struct kernel *k);

/* A CPU goes offline, or comes back. CPU 0 stays. */
void kernel_set_online(struct kernel *k, uint32_t cpu, bool online);
bool kernel_is_online(const struct kernel *k, uint32_t cpu);
/* Whether it has events, those of the side band and those of the samples. */
bool kernel_records_on(const struct kernel *k, uint32_t cpu);

/*
 * Writes a record of the side band: enum perf_event_type, its misc bits, and what lies between
 * header and time. False when it was lost, which the next record that finds room says, or never
 * written for want of an event.
 */
bool kernel_side(struct kernel *k, uint32_t cpu, uint32_t type, uint16_t misc, const void *body,
		 size_t size, uint64_t time_ns);

/* A sample fires, on a CPU with events. False when its ring was full. */
bool kernel_sample(struct kernel *k, size_t ring, const struct sample *sample);

/* A record that the kernel half gave up after it had reserved the room. */
void kernel_discard(struct kernel *k, size_t ring, uint64_t time_ns);

/* What was written to a ring up to a time becomes visible: first those of the side band. */
#define KERNEL_ALL_RINGS (KERNEL_CPUS + KERNEL_RINGS)
void kernel_publish(struct kernel *k, size_t ring, uint64_t until_ns);

/* Records of the side band that were lost, as far as a record of the ring says so. */
uint64_t kernel_side_lost(const struct kernel *k);
uint64_t kernel_fired(const struct kernel *k);
uint64_t kernel_sent(const struct kernel *k);

#endif
