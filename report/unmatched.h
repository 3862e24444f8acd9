/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_UNMATCHED_H
#define REPORT_UNMATCHED_H

/* Reports to the user why a report would be empty, and what to look at. */

#include "report/load.h"

/*
 * True when the report would be empty, after a message that says why; else false, without a
 * message.
 */
bool unmatched(const struct loaded *l, const struct report_options *o);

#endif
