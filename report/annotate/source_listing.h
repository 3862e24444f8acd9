/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_ANNOTATE_SOURCE_LISTING_H
#define REPORT_ANNOTATE_SOURCE_LISTING_H

/* The lines of a function with their hits, and below each line what was inlined there. */

#include "report/annotate/listing.h"

/* ERROR_MEMORY. Where a source is missing, the listing says why. */
struct error *source_listing_write(struct listing *l, const struct hits *hits) ERROR_CHECKED;

#endif
