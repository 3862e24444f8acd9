/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RECORD_JAVA_HOTSPOT_NAMES_H
#define RECORD_JAVA_HOTSPOT_NAMES_H

/*
 * Names for the frames of one Java process, read from it while it lives. A compiled method is
 * known by its compile id, an interpreted one by its cookie (bpf/abi/hotspot.h): what is read after
 * the sample counts only when it still has the one that came with it. So memory that was used again
 * gives no name rather than a wrong one. What was read once is kept.
 */

#include "bpf/abi/sample.h"
#include "format/prf.h"
#include "record/java/hotspot_methods.h"

struct hotspot_names;

/*
 * `h` must be ready, and outlive the names. So must `shares`, of the bytes that are read for all
 * processes; this one is of `user`. NULL without memory.
 */
struct hotspot_names *hotspot_names_new(const struct hotspot *h, struct shares *shares,
					uint32_t user);
void hotspot_names_free(struct hotspot_names *n);

/*
 * The frames that are looked up from now on were there at `sample_ns` (CLOCK_MONOTONIC): memory
 * that was read before is read again, or compared.
 */
void hotspot_names_as_of(struct hotspot_names *n, uint64_t sample_ns);

/*
 * The places of a frame, inlined methods first. How many there are; 0: it has no name. `exact`:
 * the frame was interrupted there, it is not a return address. Texts stay valid until
 * hotspot_names_free().
 */
size_t hotspot_names_find(struct hotspot_names *n, const struct script_frame *frame, bool exact,
			  struct prf_place places[HOTSPOT_INLINED_MAX]);

#endif
