/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_ANNOTATE_CODE_LISTING_H
#define REPORT_ANNOTATE_CODE_LISTING_H

/* The instructions of a function with their hits, below the source lines that they belong to. */

#include "report/annotate/listing.h"

/* ERROR_MEMORY. Where there are no instructions, the listing says why. */
struct error *code_listing_write(struct listing *l, const struct hits *hits) ERROR_CHECKED;

#endif
