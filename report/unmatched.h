/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_UNMATCHED_H
#define REPORT_UNMATCHED_H

/* Tells the user why a report would be empty, and what to look at. */

#include "report/load.h"

/* False, and nothing said, when there is something to report. */
bool unmatched(const struct loaded *l, const struct report_options *o);

#endif
