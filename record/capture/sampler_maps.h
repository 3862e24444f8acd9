/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_CAPTURE_SAMPLER_MAPS_H
#define RECORD_CAPTURE_SAMPLER_MAPS_H

/*
 * The maps of bpf/sampler.bpf.c: as large as the recording needs them, and made before the programs
 * are loaded. So unwind tables are made and published while the verifier is busy.
 */

#include "bpf/abi/sample.h"
#include "record/events/event.h"

#include <stddef.h>
#include <stdint.h>

struct bpf_map;
struct sampler_bpf;

#define SCRIPT_NAMES_BYTES (2u << 20) /* of some ten thousand code objects */

struct sampler_maps_options {
	const struct event_list *events; /* resolved */
	size_t possible_cpus;
	uint64_t ring_bytes; /* a power of two */
};

/* Whether any event uses this class. Rings of unused classes get the smallest size. */
bool sampler_maps_use(const struct event_list *events, enum sample_class class);

struct bpf_map *sampler_maps_ring(const struct sampler_bpf *skeleton, enum sample_class class);

/*
 * Sizes them, and makes those that are neither variables nor storage of tasks, which libbpf makes.
 * 0 or -errno.
 */
int sampler_maps_make(const struct sampler_bpf *skeleton,
		      const struct sampler_maps_options *options);

#endif
