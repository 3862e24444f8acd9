/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FORMAT_STACKS_H
#define FORMAT_STACKS_H

/*
 * Frames and stacks as bytes (prf.5, "Frames" and "Stacks"): payloads of columns. A payload
 * states how many of the definitions it names there were, so that a reader notices those that
 * it never saw.
 */

#include "format/payload.h"
#include "format/tables.h"

/* Which ids a payload defines, and how many of what it names were defined before it. */
struct definition_range {
	uint32_t defined; /* objects for frames, frames for stacks */
	uint32_t first_id;
	size_t n;
};

/* Append the payload of `range->n` definitions. Without memory payload->raw has failed. */
void frames_encode(struct payload *payload, const struct prf_frame *frames,
		   const struct definition_range *range);
void stacks_encode(struct payload *payload, const struct prf_stack *stacks,
		   const struct definition_range *range);

/* Take a payload into the tables. ERROR_CORRUPT: then nothing of it was taken. ERROR_MEMORY. */
struct error *frames_decode(struct tables *t, struct cursor *c) ERROR_CHECKED;
struct error *stacks_decode(struct tables *t, struct cursor *c) ERROR_CHECKED;

#endif
