/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_ANNOTATE_HIT_CHANGES_H
#define REPORT_ANNOTATE_HIT_CHANGES_H

/* What changed at lines or instructions between the runs of a comparison. */

#include "report/annotate/hits.h"
#include "report/difference/compared_runs.h"

struct hit_change {
	struct change self, total;
};

/*
 * Of n rows with counts[row * runs->all + run], all of them together; rows without any hits are
 * left as zeros, and do not matter to the others. *changes is the caller's to free; NULL where
 * `runs` is NULL: nothing is compared. ERROR_MEMORY.
 */
struct error *hit_changes(struct hit_change **changes, const struct compared_runs *runs,
			  const struct hit_count *counts, size_t n) ERROR_CHECKED;

#endif
