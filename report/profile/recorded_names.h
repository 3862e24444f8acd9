/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_PROFILE_RECORDED_NAMES_H
#define REPORT_PROFILE_RECORDED_NAMES_H

/* Names that a trace gives to its frames itself, such as those that were embedded. Starts as { 0 }.
 */

#include "format/prf.h"
#include "report/profile/text_pool.h"

#define RECORDED_PLACES_MAX                                                                        \
	1024 /* of one frame: with more inlined calls its names are not used                       \
	      */

/* Of one frame: `count` of `places` from `first` on. */
struct recorded_name {
	uint32_t frame;
	uint32_t first, count;
};

struct recorded_names {
	struct recorded_name *list; /* of one frame the last ones count */
	struct prf_place *places;
	size_t count, capacity, place_count, place_capacity;
	struct text_pool texts;
};

/* All are copied. ERROR_MEMORY. */
struct error *recorded_names_add(struct recorded_names *r, uint32_t frame,
				 const struct prf_place *places, size_t n) ERROR_CHECKED;
void recorded_names_release(struct recorded_names *r);

#endif
