/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_VIEW_REGISTRY_H
#define REPORT_VIEW_REGISTRY_H

/* All formats of `prof-report -f`; the only place that knows every view. */

#include "report/tables/view.h"

/* NULL when there is none of that name. */
const struct view *view_find(const char *name);
/* The format that files of such a name hold, or NULL. */
const struct view *view_of_file(const char *path);
/* Whether files of a name for which there is no format hold something else than text. */
bool view_is_unclear(const char *path);
/* The i-th, or NULL after the last. */
const struct view *view_at(size_t i);

#endif
