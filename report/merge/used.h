/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_MERGE_USED_H
#define REPORT_MERGE_USED_H

/*
 * Which recorded stacks and frames were counted: only these are named and shown. Starts as { 0 }.
 */

#include "report/profile/definitions.h"
#include "report/profile/tally.h"

struct used {
	uint8_t *stacks, *frames; /* by number: 1 when used */
};

/*
 * Marks what the tally's cells from `first` on refer to. ERROR_MEMORY; to be released in any case.
 */
struct error *used_init(struct used *u, const struct definitions *d, const struct tally *tally,
			size_t first) ERROR_CHECKED;
void used_release(struct used *u);

#endif
